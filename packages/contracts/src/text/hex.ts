/** A digest in text: 64 lower-case hex digits. */
export const DIGEST_HEX = /^[0-9a-f]{64}$/;

const PAIRS: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

const BYTES: ReadonlyMap<string, number> = new Map(PAIRS.map((pair, byte) => [pair, byte]));

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
    const byte = BYTES.get(text.slice(2 * i, 2 * i + 2));
    if (byte === undefined) throw new RangeError('hex has the digits 0–9 and a–f');
    bytes[i] = byte;
  }
  return bytes;
}
