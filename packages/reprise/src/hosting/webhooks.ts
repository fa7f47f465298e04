/** Webhooks of a world: what it tells others from an outbox in its journal, and what others tell it. */
export * from '@reprise/webhooks';
