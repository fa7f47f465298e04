export * from '@reprise/tools';
