/** Finds private keys in bytes, in every form in which they could have been written. */

/** The characters of a form that are compared: 20 of at least 32 are enough to know a key. */
const WINDOW = 20;

/**
 * The keys of which a form stands in the bytes: raw, hex in both cases, and base64, also of URLs, at each of its three
 * offsets.
 *
 * @returns their numbers
 */
export function found(keys: readonly Buffer[], bytes: readonly Uint8Array[]): readonly number[] {
  const owner = new Map<string, number>();
  for (const [n, key] of keys.entries()) for (const form of formsOf(key)) owner.set(form.slice(0, WINDOW), n);
  const hit = new Set<number>();
  for (const part of bytes) {
    const text = Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1');
    for (let at = 0; at + WINDOW <= text.length; at++) {
      const n = owner.get(text.slice(at, at + WINDOW));
      if (n !== undefined) hit.add(n);
    }
  }
  return [...hit].sort((a, b) => a - b);
}

/** The forms of a key. */
export function formsOf(key: Buffer): readonly string[] {
  const shifted = [0, 1, 2].map((pad) => {
    const text = Buffer.concat([Buffer.alloc(pad), key]).toString('base64');
    return text.slice(pad === 0 ? 0 : 4, 40);
  });
  const urls = shifted.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [key.toString('latin1'), key.toString('hex'), key.toString('hex').toUpperCase(), ...shifted, ...urls];
}
