/** Bounds on following links from one value to another. They decide which values are admitted, never their meaning. */

/**
 * Links followed for one value before it is journaled. A log of three million items is some hundred thousand
 * chunks; a malicious chain of one link each could be of any length, and costs its writer less than its reader.
 */
export const LINKS_FOLLOWED_MAX = 250_000;

/** Links followed between two yields to other work of the process: some ten milliseconds of reading. */
export const LINKS_PER_TURN = 512;
