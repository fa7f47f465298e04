/** The declared sender of an event on a stage: reducers are played there without the engine, by the same declarations. */
import type { Address, Sender, Value } from '@reprise/contracts';
import { matchSender, type ReducerContext, type ReducerDefinition } from '@reprise/kernel/define';

/** One delivery on a stage. All cells of a stage are made from outside, and its adapters send nothing. */
export interface StagedDelivery {
  readonly reducer: ReducerDefinition;
  readonly event: { readonly name: string; readonly value: unknown };
  readonly address: readonly string[];
  readonly sender: readonly (string | number)[] | null;
  /** The receiver's state; undefined while it is being made. */
  readonly state: unknown;
  /** The row of a table of the receiver. */
  row(table: string, key: string): unknown;
}

/** What a recipe reads of the sender, and the row that it gets. */
export type StagedSender = Pick<ReducerContext, 'sender' | 'caller' | 'plan' | 'rowKey'> & { readonly row?: unknown };

/** @returns undefined for a sender that the event does not declare */
export function stagedSender(delivery: StagedDelivery): StagedSender | undefined {
  const { reducer, event, state } = delivery;
  const address = delivery.address as unknown as Address;
  const sender = delivery.sender as Sender;
  const caller: Address | null = sender === null ? null : [sender[0], sender[1]];
  const isOwn = sender !== null && sender[0] === address[0] && sender[1] === address[1];
  const read = { sender, caller, plan: sender?.length === 3 && isOwn ? sender[2] : null, rowKey: null };
  const declared = reducer.events.get(event.name)?.from;
  if (declared === undefined || event.name.startsWith('sys/')) return read;
  const found = matchSender(declared, {
    from: sender,
    to: address,
    value: event.value as Value,
    state: state as Value | undefined,
    cellName: (name) => name,
    isOutside: () => sender === null,
    isOwnAdapter: () => false,
    isOwnRequest: () => false,
    isMaker: (cell) => state === undefined || cell === null,
    isAbove: () => false,
    row: (table, key) => delivery.row(table, key) as Value | undefined,
  });
  if (found === undefined) return undefined;
  return found === 'no_row' ? read : { ...read, rowKey: found.key, row: found.value };
}
