import type { Value } from '@reprise/contracts';
import { encode, portableSha256, toHex } from '../codec/index.js';

/**
 * The digest of a value's canonical bytes, as 64 hex digits: the same value gives the same text everywhere. For pure code
 * that has to tell values apart and cannot keep them.
 *
 * @throws RepriseError `invalid_value` for what has no canonical form
 * @example digestOf({ tool: 'refund', args: [1] }).slice(0, 16)
 */
export function digestOf(value: Value): string {
  return toHex(portableSha256(encode(value)));
}
