/** How much of what is pointed to a model is told. Part of `aos.agent/Prompt@1`: these never change under its name. */

/** Bytes of content that a part shows in full: some 250,000 tokens, more than most windows hold. */
export const VIEW_FULL_BYTES_MAX = 1_000_000;

/** Bytes of content that a part shows as a summary, which is its beginning: a page. */
export const VIEW_SUMMARY_BYTES_MAX = 2_000;

/** Bytes that are told of what one child came to: the rest its parent can ask for. */
export const CHILD_BYTES_MAX = 8_000;

/** Bytes that are told of what all children of one call came to; they share it. */
export const CHILDREN_BYTES_MAX = 32_000;

/** Bytes of one image or document that a model is shown as it is: what the strictest of the providers takes. */
export const MEDIA_BYTES_MAX = 5_000_000;

/** Bytes of all images and documents of one request together: as text they are a third more, and requests end at 32 MB. */
export const MEDIA_TOTAL_BYTES_MAX = 20_000_000;
