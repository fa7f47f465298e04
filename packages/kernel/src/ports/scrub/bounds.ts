/** The bounds of scrubbing. */

/**
 * The shortest text that counts as a secret, in characters. Local servers take `none` or `ollama` as a key; removing
 * such words from a text would change what a model said.
 */
export const SECRET_LENGTH_MIN = 8;

/**
 * Secrets that a scrubber remembers besides its initial ones; beyond this the one declared longest ago is
 * forgotten. Tokens renewed each hour reach it in six weeks.
 */
export const SECRETS_MAX = 1_024;

/** The longest secret, in characters: a private key of 16,384 bits in PEM form. Of a longer text each line counts. */
export const SECRET_LENGTH_MAX = 16_384;

/** The longest stored text of one error, in characters: an answer of a provider, without the page around it. */
export const ERROR_TEXT_LENGTH_MAX = 4_096;

/** The number of stored causes of one error. */
export const ERROR_CAUSES_MAX = 8;
