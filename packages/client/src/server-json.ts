/**
 * JSON that the server of sessions wrote from its own numbers, so each is read back as it was. Apart from the parser of JSON of
 * others, since this package has no dependency.
 */

/** Parses it. @throws SyntaxError when the text is not JSON */
export function parseServerJson(text: string): unknown {
  return JSON.parse(text);
}
