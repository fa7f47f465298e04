import type { Value } from '@reprise/contracts';
import { encode, portableSha256, toHex } from '../codec/index.js';

/**
 * The digest of a value's canonical bytes, as 64 hex digits: the same value gives the same text everywhere. For pure code
 * that must compare values without storing them.
 *
 * @throws RepriseError `invalid_value` for a value without a canonical form
 * @example digestOf({ tool: 'refund', args: [1] }).slice(0, 16)
 */
export function digestOf(value: Value): string {
  return toHex(portableSha256(encode(value)));
}
