/** Sessions as declared senders of the events of their owner. */
import { by, type KeyPart, type RowForm } from '@reprise/kernel/define';
import { SESSION_REDUCER } from './session.js';

/**
 * A sender of an owner's events: a session for which the owner has a row, see `by.row`. The row is handed on to the
 * handler, and the session's key, or the part of it that names the row, as `ctx.rowKey`.
 *
 * @param table a table of the owner
 * @param key the key of the session, when it is not that of the row
 * @example 'aos.agent/OwnerCall@1': from(ownerCall, session('sessions'))
 */
export function session<const N extends string>(table: N, key?: readonly KeyPart[]): RowForm<N> {
  return by.row(table, { reducer: SESSION_REDUCER, ...(key === undefined ? {} : { key }) });
}
