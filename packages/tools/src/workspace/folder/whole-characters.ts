/** Ends of pieces of UTF-8: a piece that is shown ends where a character ends. */

/** The most bytes of a character. */
export const CHARACTER_BYTES_MAX = 4;

/** How many bytes at the end of a piece begin a character that is not whole. */
export function brokenEnd(bytes: Uint8Array): number {
  for (let back = 1; back < CHARACTER_BYTES_MAX && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthBy(byte) > back ? back : 0;
  }
  return 0;
}

/** How many bytes at the start of a piece end a character that begins in the bytes before it. */
export function brokenStart(before: Uint8Array, bytes: Uint8Array): number {
  const begun = brokenEnd(before);
  if (begun === 0) return 0;
  const missing = lengthBy(before[before.length - begun] ?? 0) - begun;
  const isWhole = bytes.length >= missing && bytes.subarray(0, missing).every(isContinuation);
  return isWhole ? missing : 0;
}

/** The length of the first character of a piece, in bytes; of bytes that are in none, 1. */
export function characterLength(bytes: Uint8Array): number {
  return Math.min(bytes.length, lengthBy(bytes[0] ?? 0));
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The length of a character by its first byte. */
function lengthBy(byte: number): number {
  if (byte >= 0xf0 && byte < 0xf5) return 4;
  if (byte >= 0xe0) return byte < 0xf0 ? 3 : 1;
  return byte >= 0xc2 ? 2 : 1;
}
