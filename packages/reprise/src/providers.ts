export * from '@reprise/providers';
