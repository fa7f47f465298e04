/** The bounds of a fork's first frame: it carries the receipt of every open effect. */

/** Effects that may be open where a world is forked: their plans all go on in one cascade. */
export const FORK_OPEN_MAX = 4_096;

/** The largest first record of a fork, in canonical bytes: a larger one would not fit a frame. */
export const FORK_BYTES_MAX = 8 * 1024 * 1024;

/** The number of forks after the cut whose receipts are found: the first ones. */
export const FORK_ORIGINS_MAX = 64;
