import type { IngressOf, IngressRecord } from '@reprise/contracts';
import { encode, type Hash, toHex } from '../../pure/codec/index.js';

/** An ingress that a caller may repeat under its own id. */
export type KeyedIngress = IngressOf<'request' | 'command' | 'erase'>;

/** Whether an ingress may be repeated. */
export function isKeyed(ingress: IngressRecord): ingress is KeyedIngress {
  return ingress.kind === 'request' || ingress.kind === 'command' || ingress.kind === 'erase';
}

/** The key of such an ingress: a digest of its principal and id. 64 hex digits. */
export function requestKey({ principal, id }: Pick<KeyedIngress, 'principal' | 'id'>, hash: Hash): string {
  return toHex(hash(encode([principal, id])));
}
