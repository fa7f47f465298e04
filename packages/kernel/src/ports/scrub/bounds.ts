/** The bounds of scrubbing. */

/**
 * The shortest text that is taken for a secret, in characters. Local servers are called with `none` or `ollama` as a
 * key; removing such words from an answer would change what a model said.
 */
export const SECRET_LENGTH_MIN = 8;

/**
 * Secrets that a scrubber knows besides those of its beginning; the one that was not declared for the longest time is
 * forgotten. Tokens that are renewed each hour reach it in six weeks.
 */
export const SECRETS_MAX = 1_024;

/** The longest secret, in characters: a private key of 16,384 bits in PEM form. Of a longer text each line counts. */
export const SECRET_LENGTH_MAX = 16_384;

/** The longest text of one error that is kept, in characters: an answer of a provider, without the page around it. */
export const ERROR_TEXT_LENGTH_MAX = 4_096;

/** Causes of one error that are kept. */
export const ERROR_CAUSES_MAX = 8;
