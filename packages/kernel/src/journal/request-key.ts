import type { IngressOf } from '@reprise/contracts';
import { encode, type Hash, toHex } from '../codec/index.js';

/** The key under which a request is found again: who asked, and the id they gave. 64 hex digits. */
export function requestKey({ principal, id }: Pick<IngressOf<'request'>, 'principal' | 'id'>, hash: Hash): string {
  return toHex(hash(encode([principal, id])));
}
