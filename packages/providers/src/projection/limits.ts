/** How much of what is pointed to a model is told. Part of `aos.agent/Projection@1`: these never change under its name. */

/** Bytes of content that a part shows in full: some 250,000 tokens, more than most windows hold. */
export const VIEW_FULL_BYTES_MAX = 1_000_000;

/** Bytes of content that a part shows as a summary, which is its beginning: a page. */
export const VIEW_SUMMARY_BYTES_MAX = 2_000;

/** Bytes that are told of what one child came to: the rest its parent can ask for. */
export const CHILD_BYTES_MAX = 8_000;

/** Bytes that are told of what all children of one call came to; they share it. */
export const CHILDREN_BYTES_MAX = 32_000;
