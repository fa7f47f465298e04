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
 * Reads lower-case hex. By its digits, not by pairs of them cut out of the text: that made 32 small texts a digest, a tenth of
 * all garbage of a durable effect.
 *
 * @throws RangeError when the text is anything else
 */
export function fromHex(text: string): Uint8Array {
  if (text.length % 2 !== 0) throw new RangeError('hex has an even number of digits');
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++)
    bytes[i] = 16 * digitOf(text.charCodeAt(2 * i)) + digitOf(text.charCodeAt(2 * i + 1));
  return bytes;
}

const [ZERO, NINE, A, F] = [48, 57, 97, 102];

function digitOf(unit: number): number {
  if (unit >= ZERO && unit <= NINE) return unit - ZERO;
  if (unit >= A && unit <= F) return unit - A + 10;
  throw new RangeError('hex has the digits 0–9 and a–f');
}
