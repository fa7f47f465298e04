/**
 * Bounds of the prompt assembly. Those on linked content are part of `aos.agent/Prompt@1`: they never change under that
 * name.
 */

/** Bytes of a part in full view: some 250,000 tokens, more than most context windows hold. */
export const VIEW_FULL_BYTES_MAX = 1_000_000;

/** Bytes of a part in summary view, which shows its beginning: about one page. */
export const VIEW_SUMMARY_BYTES_MAX = 2_000;

/** Bytes shown of one child's result; the parent can read the rest with a tool. */
export const CHILD_BYTES_MAX = 8_000;

/** Bytes shown of the results of all children of one call together. */
export const CHILDREN_BYTES_MAX = 32_000;

/**
 * Bytes of all images and documents in one request: base64 makes them a third larger, and requests are bounded at 32
 * MB.
 */
export const MEDIA_TOTAL_BYTES_MAX = 20_000_000;

/**
 * Bytes that an open world keeps of its conversations between model calls, in its own memory: some thirty conversations
 * that each fill a context window of 128,000 tokens.
 */
export const PROMPT_MEMORY_BYTES = 64 * 1024 * 1024;
