/** The checks of a call, in the order in which a refusal names them: the first that fails (CAP-10). */
export const CHECKS = ['tool', 'group', 'visibility', 'parallel', 'ttl'] as const;

/** A check of a call. */
export type CallCheck = (typeof CHECKS)[number];
