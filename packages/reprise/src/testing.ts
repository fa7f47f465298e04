export * from '@reprise/testkit';
