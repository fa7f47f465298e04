/** The bounds of views. None of them reaches a journal: a release may change each, and views are made again. */

/** The largest row, in canonical bytes. */
export const ROW_BYTES_MAX = 64 * 1024;

/** Rows that the fold of one record may change: beyond it the fold has no end. */
export const RECORD_ROWS_MAX = 10_000;

/** Frames folded before they are committed, when no reader waits for them. */
export const VIEW_BATCH_FRAMES = 1_024;

/** Bytes of changes after which they are committed. */
export const VIEW_BATCH_BYTES = 4 * 1024 * 1024;

/** Rows of one page, and how many there are when nothing is said. */
export const PAGE_ROWS_MAX = 1_000;

/** Rows of a page when nothing is said. */
export const PAGE_ROWS_DEFAULT = 100;

/** Words of one search: each is a walk over its postings. */
export const QUERY_WORDS_MAX = 32;

/** Words that the beginning of one stands for; those that come first in order are taken. */
export const PREFIX_WORDS_MAX = 256;
