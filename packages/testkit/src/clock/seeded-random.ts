import { requireArgument } from '@reprise/contracts';
import { encode, portableSha256, type RandomBytes } from '@reprise/kernel';

/**
 * Random bytes from a seed: every run has the same world id, seed and request ids, so a whole world can be compared with
 * pinned heads.
 *
 * @param seed any number or text
 * @example openWorld({ store: memory(), app, random: seededRandom('a') })
 */
export function seededRandom(seed: number | string): RandomBytes {
  const fits = typeof seed === 'number' || typeof seed === 'string';
  requireArgument(fits, 'seededRandom(seed)', 'a number or a text', seed);
  let drawn = 0;
  return (length) => {
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; at += 32) {
      bytes.set(portableSha256(encode([seed, drawn++])).subarray(0, Math.min(32, length - at)), at);
    }
    return bytes;
  };
}
