/** The bounds of a fork's first frame: it carries what every open effect is settled with. */

/** Effects that may be open where a world is forked: their plans all go on in one cascade. */
export const FORK_OPEN_MAX = 4_096;

/** The largest first record of a fork, in canonical bytes: with more it would be no frame that a store likes. */
export const FORK_BYTES_MAX = 8 * 1024 * 1024;

/** Forks among the recorded frames after the cut of which the receipts are found: those first made. */
export const FORK_ORIGINS_MAX = 64;
