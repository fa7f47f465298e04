/** Texts of JSON that this library wrote itself. Apart from `json.ts`, so that a kernel loads no parser for others. */

/**
 * Parses JSON that this library wrote itself, from numbers that it had: `JSON.stringify` writes each number so that it is
 * read back as the same one, whatever its size. Never for a text of others.
 *
 * @throws SyntaxError when the text is not JSON
 */
export function parseOwnJson(text: string): unknown {
  return JSON.parse(text);
}
