/**
 * Cuts text. All shortening uses these functions, since a plain `slice` can split a surrogate pair: the result would
 * have no UTF-8 form, and no canonical form.
 */

/** The text with each lone surrogate replaced by U+FFFD, as UTF-8 encoders do. */
export function wellFormed(text: string): string {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

/**
 * The beginning of a text, without half a character at its end.
 *
 * @param unitsMax the most UTF-16 units of the result
 */
export function startOfText(text: string, unitsMax: number): string {
  const end = Math.min(text.length, Math.max(0, unitsMax));
  return text.slice(0, splitsPair(text, end) ? end - 1 : end);
}

/**
 * The end of a text, without half a character at its beginning.
 *
 * @param unitsMax the most UTF-16 units of the result
 */
export function endOfText(text: string, unitsMax: number): string {
  const start = text.length - Math.min(text.length, Math.max(0, unitsMax));
  return text.slice(splitsPair(text, start) ? start + 1 : start);
}

/**
 * The text itself when it is short enough, otherwise its beginning and `…`.
 *
 * @param unitsMax the most UTF-16 units of the result, `…` included
 */
export function shortText(text: string, unitsMax: number): string {
  return text.length <= unitsMax ? text : `${startOfText(text, unitsMax - 1)}…`;
}

/**
 * The beginning of a UTF-8 text, cut between code points.
 *
 * @param bytesMax the most bytes of the result
 * @returns a view of the given bytes
 */
export function startOfUtf8(text: Uint8Array, bytesMax: number): Uint8Array {
  let end = Math.min(text.length, Math.max(0, bytesMax));
  while (end > 0 && isContinuation(text, end)) end -= 1;
  return text.subarray(0, end);
}

/**
 * The end of a UTF-8 text, cut between code points.
 *
 * @param bytesMax the most bytes of the result
 * @returns a view of the given bytes
 */
export function endOfUtf8(text: Uint8Array, bytesMax: number): Uint8Array {
  let start = text.length - Math.min(text.length, Math.max(0, bytesMax));
  while (isContinuation(text, start)) start += 1;
  return text.subarray(start);
}

function splitsPair(text: string, at: number): boolean {
  return isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(at), 0xdc00, 0xdfff);
}

function isBetween(unit: number, first: number, last: number): boolean {
  return unit >= first && unit <= last;
}

function isContinuation(text: Uint8Array, at: number): boolean {
  return at < text.length && ((text[at] ?? 0) & 0xc0) === 0x80;
}
