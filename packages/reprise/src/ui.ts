/** Chat pages: runs as UI message streams. */
export * from '@reprise/ui';
