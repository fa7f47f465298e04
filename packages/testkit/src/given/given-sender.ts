/** The sender of a given event: judged by the declaration of the tested reducer, with the rule of the engine. */
import type { Address, PlanAddress, Sender, Value } from '@reprise/contracts';
import { matchSender, type ReducerContext, type ReducerDefinition, type SenderFacts } from '@reprise/kernel/define';

/** Who sends a given event: a cell, or a plan; the outside when absent. */
export type GivenSender = Address | PlanAddress;

/** One delivery to the tested reducer. */
export interface GivenDelivery {
  readonly reducer: ReducerDefinition;
  readonly event: { readonly name: string; readonly value: unknown };
  /** The receiver's state; undefined while the cell is being made. */
  readonly state: Value | undefined;
  readonly context: ReducerContext;
  /** The sender that the test states, for an event that the test gives. */
  readonly from: GivenSender | undefined;
  /** The cell that made the receiver; null for the outside. */
  readonly maker: Address | null;
}

/** What a recipe reads of the sender of its event. */
type Read = Pick<ReducerContext, 'sender' | 'caller' | 'plan' | 'rowKey' | 'parent'>;

/**
 * Finds what the recipe is told about the sender, and the row that it has.
 *
 * @throws the refusal `not_yours`, for a sender that the event does not declare
 */
export function givenSender(delivery: GivenDelivery): { readonly read: Read; readonly row?: Value } {
  const { reducer, event, context, from, maker } = delivery;
  const isNotice = event.name.startsWith('sys/'); // the kernel's: nobody sends it
  const sender: Sender = isNotice ? null : (context.sender ?? from ?? null);
  const { address } = context;
  const isOwn = sender !== null && sender[0] === address[0] && sender[1] === address[1];
  const caller: Address | null = sender === null ? null : [sender[0], sender[1]];
  const plan = isOwn && sender.length === 3 ? sender[2] : null;
  const read = { sender, caller, plan, rowKey: null, parent: maker };
  const declared = reducer.events.get(event.name)?.from;
  if (declared === undefined || isNotice) return { read };
  const found = matchSender(declared, factsOf(delivery, sender)) ?? context.reject('not_yours');
  return found === 'no_row' ? { read } : { read: { ...read, rowKey: found.key }, row: found.value };
}

function factsOf({ event, state, context, maker }: GivenDelivery, from: Sender): SenderFacts {
  const isNew = state === undefined;
  return {
    from,
    to: context.address,
    value: event.value as Value,
    state,
    cellName: (reducer) => reducer,
    isOutside: () => from === null,
    isOwnAdapter: () => false,
    isOwnRequest: () => false,
    isMaker: (cell) => isNew || JSON.stringify(cell) === JSON.stringify(maker),
    isAbove: (cell) => JSON.stringify(cell) === JSON.stringify(maker),
    row: (table, key) => context.table<Value>(table).get(key),
  };
}
