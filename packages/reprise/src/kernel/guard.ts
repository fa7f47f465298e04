export * from '@reprise/kernel/guard';
