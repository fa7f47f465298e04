/** The id of an agent from its public key, in replayed code. */
import { portableSha256, toHex } from '@reprise/kernel/codec';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The hex SHA-256 of the bytes of a public key, which stands in base64. */
export function agentIdOfKey(public_key: string): string {
  const bytes: number[] = [];
  let bits = 0;
  let left = 0;
  for (const character of public_key) {
    const six = ALPHABET.indexOf(character);
    if (six < 0) break;
    bits = ((bits << 6) | six) & 0xffff;
    left += 6;
    if (left < 8) continue;
    left -= 8;
    bytes.push((bits >> left) & 0xff);
  }
  return toHex(portableSha256(Uint8Array.from(bytes)));
}
