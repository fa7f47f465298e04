/** Simulated worlds: random requests, crashes and failures, from a seed. */
export * from '@reprise/testkit/simulator';
