import { toHex } from '@reprise/contracts';
import { portableSha256 } from '@reprise/kernel';

/** The sha-256 of bytes in hex. */
export function digestOf(bytes: Uint8Array): string {
  return toHex(portableSha256(bytes));
}
