/** The bounds of views. None of them reaches a journal: a release may change each, and views are rebuilt. */

/** The largest row, in canonical bytes. */
export const ROW_BYTES_MAX = 64 * 1024;

/** Rows that the fold of one record may change: a fold beyond it is taken to be endless. */
export const RECORD_ROWS_MAX = 10_000;

/** Frames folded before a commit, when no reader waits for them. */
export const VIEW_BATCH_FRAMES = 1_024;

/** Bytes of changes after which they are committed. */
export const VIEW_BATCH_BYTES = 4 * 1024 * 1024;

/** The largest page, in rows. */
export const PAGE_ROWS_MAX = 1_000;

/** The default page, in rows. */
export const PAGE_ROWS_DEFAULT = 100;

/** Words of one search: each is a walk over its postings. */
export const QUERY_WORDS_MAX = 32;

/** The number of words that a prefix may stand for; the first ones in order are taken. */
export const PREFIX_WORDS_MAX = 256;
