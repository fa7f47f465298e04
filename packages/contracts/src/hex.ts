/** A digest in text: 64 lower-case hex digits. */
export const DIGEST_HEX = /^[0-9a-f]{64}$/;

const PAIRS: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Writes bytes as lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  let out = '';
  for (let i = 0; i < bytes.length; i++) out += PAIRS[bytes[i] as number];
  return out;
}

/**
 * Reads lower-case hex.
 *
 * @throws RangeError when the text is anything else
 */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0) throw new RangeError('hex has an even number of digits');
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) {
    bytes[i] = nibble(text.charCodeAt(2 * i)) * 16 + nibble(text.charCodeAt(2 * i + 1));
  }
  return bytes;
}

function nibble(unit: number): number {
  if (unit >= 48 && unit <= 57) return unit - 48;
  if (unit >= 97 && unit <= 102) return unit - 87;
  throw new RangeError('hex has the digits 0–9 and a–f');
}
