const DIGITS = '0123456789abcdef';

/** Writes bytes as lower-case hex. */
export function toHex(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) out += DIGITS.charAt(byte >> 4) + DIGITS.charAt(byte & 15);
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
    const high = DIGITS.indexOf(text.charAt(2 * i));
    const low = DIGITS.indexOf(text.charAt(2 * i + 1));
    if (high < 0 || low < 0) throw new RangeError('hex has the digits 0–9 and a–f');
    bytes[i] = high * 16 + low;
  }
  return bytes;
}
