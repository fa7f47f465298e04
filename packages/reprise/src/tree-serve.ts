/** Programs as nodes of trees, and files as results: for Node. */
export * from '@reprise/tree/serve';
