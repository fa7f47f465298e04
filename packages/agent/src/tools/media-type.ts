/** Detects the media type of content by its first bytes. */

/** How many bytes of an output decide whether it is binary. */
export const SNIFF_BYTES = 8_000;

const SIGNATURES: readonly (readonly [string, readonly number[]])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46]],
  ['application/pdf', [0x25, 0x50, 0x44, 0x46]],
  ['application/zip', [0x50, 0x4b, 0x03, 0x04]],
  ['application/gzip', [0x1f, 0x8b]],
  ['application/wasm', [0x00, 0x61, 0x73, 0x6d]],
  ['application/x-elf', [0x7f, 0x45, 0x4c, 0x46]],
];

/** The share of NUL bytes, and of other characters that no text holds, above which bytes are not a text. */
const NUL_SHARE_MAX = 2 / 3;
const ODD_SHARE_MAX = 0.1;

/**
 * Whether bytes look like a binary file. A NUL alone says little: lists that programs pass on separate their names with
 * it, and logs hold one now and then.
 */
export function looksBinary(start: Uint8Array): boolean {
  if (!start.includes(0)) return false;
  if (utf16Of(start) !== undefined) return false;
  if (signatureOf(start) !== undefined) return true;
  const text = new TextDecoder().decode(start);
  let nul = 0;
  let odd = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0) nul += 1;
    else if (code === 0xfffd || isOdd(code)) odd += 1;
  }
  return nul > text.length * NUL_SHARE_MAX || odd > text.length * ODD_SHARE_MAX;
}

/** Whether this is a control character that is in no text: neither space nor the beginning of a color. */
function isOdd(code: number): boolean {
  return code < 32 && code !== 27 && (code < 7 || code > 13);
}

/** How many bytes show an encoding that no mark names. */
const PAIRS_MIN = 4;

/** The encoding of a text in UTF-16, by its byte order mark or, of mostly Latin text, by where its NUL bytes stand. */
export function utf16Of(start: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const pairs = Math.floor(start.length / 2);
  if (pairs < PAIRS_MIN || !start.includes(0)) return undefined;
  const nuls = [0, 0];
  let hasSpace = false; // names that a NUL ends hold no spaces and line breaks
  for (let at = 0; at < pairs * 2; at++) {
    if (start[at] === 0) nuls[at % 2] = (nuls[at % 2] ?? 0) + 1;
    hasSpace ||= start[at] === 10 || start[at] === 32;
  }
  const [even = 0, odd = 0] = nuls;
  if (!hasSpace) return undefined;
  if (odd > pairs * 0.7 && even === 0) return 'utf-16le';
  return even > pairs * 0.7 && odd === 0 ? 'utf-16be' : undefined;
}

/** The media type of binary content. */
export function mediaTypeOf(start: Uint8Array): string {
  return signatureOf(start) ?? 'application/octet-stream';
}

function signatureOf(start: Uint8Array): string | undefined {
  return SIGNATURES.find(([, signature]) => signature.every((byte, at) => start[at] === byte))?.[0];
}
