/** Bounds on following links from one value to another. They decide what is admitted, never what is derived. */

/**
 * Links that are followed for one value before it is journaled. A log of three million items is some hundred thousand
 * chunks; a chain that somebody made of one link each could be of any length, and costs its writer less than its reader.
 */
export const LINKS_FOLLOWED_MAX = 250_000;

/** Links that are followed before other work of the process gets its turn: some ten milliseconds of reading. */
export const LINKS_PER_TURN = 512;
