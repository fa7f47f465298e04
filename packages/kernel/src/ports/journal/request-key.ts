import type { IngressOf, IngressRecord } from '@reprise/contracts';
import { isFields, requireArgument, requireFields } from '@reprise/contracts';
import { encode, type Hash, toHex } from '../../pure/codec/index.js';

/** An ingress that a caller may repeat under its own id. */
export type KeyedIngress = IngressOf<'request' | 'command' | 'erase'>;

/** Whether an ingress may be repeated. */
export function isKeyed(ingress: IngressRecord): ingress is KeyedIngress {
  requireFields(ingress, 'isKeyed(ingress)', 'the ingress of a frame');
  return ingress.kind === 'request' || ingress.kind === 'command' || ingress.kind === 'erase';
}

/** The key of such an ingress: a digest of its principal and id. 64 hex digits. */
export function requestKey(ingress: Pick<KeyedIngress, 'principal' | 'id'>, hash: Hash): string {
  requireArgument(
    isFields(ingress) && typeof ingress.id === 'string',
    'requestKey(ingress)',
    '{ principal, id }',
    ingress,
  );
  const { principal, id } = ingress;
  return toHex(hash(encode([principal, id])));
}
