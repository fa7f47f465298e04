import type { IngressOf, IngressRecord } from '@reprise/contracts';
import { encode, type Hash, toHex } from '../../pure/codec/index.js';

/** An ingress that somebody may repeat: the id is theirs, and says that it is the same. */
export type KeyedIngress = IngressOf<'request' | 'command' | 'erase'>;

/** Whether an ingress is one that may be repeated. */
export function isKeyed(ingress: IngressRecord): ingress is KeyedIngress {
  return ingress.kind === 'request' || ingress.kind === 'command' || ingress.kind === 'erase';
}

/** The key under which such an ingress is found again: who asked, and the id they gave. 64 hex digits. */
export function requestKey({ principal, id }: Pick<KeyedIngress, 'principal' | 'id'>, hash: Hash): string {
  return toHex(hash(encode([principal, id])));
}
