/** The cells that the declared senders of an event let through, as the address to answer to or the key of their row. */
import type { ReducerContext } from '@reprise/kernel/define';

/** The id of the entity that asks, to answer to it: for events that only entities may send. */
export function askerOf({ caller, reject }: Pick<ReducerContext, 'caller' | 'reject'>): string {
  const [, id] = caller ?? reject('not_yours');
  return id;
}

/** The key of the row that the event's declaration found: for events that only cells with a row may send. */
export function rowKeyOf({ rowKey, reject }: Pick<ReducerContext, 'rowKey' | 'reject'>): string {
  return rowKey ?? reject('not_yours');
}

/** The number of the own plan that raises the event: for events that only plans of the cell may send. */
export function planOf({ plan, reject }: Pick<ReducerContext, 'plan' | 'reject'>): number {
  return plan ?? reject('not_yours');
}
