/** The history of a world in words, and explanations of what happened in it. */
export * from '@reprise/agent/history';
