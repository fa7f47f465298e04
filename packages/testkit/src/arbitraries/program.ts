/**
 * Programs for reducers and plans, as plain values. An event carries the operations that its reducer executes, an intent
 * those of its plan. So one fixed app executes every program, and a journal holds everything needed to replay it.
 *
 * The operations are chosen to break a careless engine: keys in unusual orders, one object under two names, a payload
 * that is stored and then changed, −0, `undefined`, exceptions that are thrown half-way or swallowed.
 */
import type { Address, Value } from '@reprise/contracts';

/** The target of an operation: a key of the cell's bag, and keys of the maps below it. */
export type SlotPath = readonly string[];

/** One operation of a reducer. */
export type ReducerOp =
  /** Writes a value. */
  | { readonly do: 'set'; readonly at: SlotPath; readonly value: Value }
  /** Deletes a key. */
  | { readonly do: 'unset'; readonly at: SlotPath }
  /** Writes `undefined`: in canonical form, no key. */
  | { readonly do: 'blank'; readonly at: SlotPath }
  /** Writes −0: in canonical form, 0. */
  | { readonly do: 'minus_zero'; readonly at: SlotPath }
  /** Writes a map whose keys are added one by one, in this order. */
  | { readonly do: 'keys'; readonly at: SlotPath; readonly keys: readonly string[] }
  /** Stores the same object under a second name. */
  | { readonly do: 'alias'; readonly from: SlotPath; readonly at: SlotPath }
  /** Writes into the map at the target, if the target is a map. */
  | { readonly do: 'touch'; readonly at: SlotPath; readonly value: Value }
  /** Stores the event's payload itself. */
  | { readonly do: 'keep'; readonly at: SlotPath }
  /** Writes into the event's payload, stored before or not. */
  | { readonly do: 'spoil'; readonly value: Value }
  /** Changes the list. */
  | { readonly do: 'list'; readonly how: ListChange; readonly value: Value }
  /** Records the observable properties of the state: key order, identity of objects, signs of zero. */
  | { readonly do: 'look' }
  /** Deletes the key that has a constant default. */
  | { readonly do: 'unmark' }
  /** Writes a thing that is not a value. */
  | { readonly do: 'illegal'; readonly what: Illegal }
  /** Throws. */
  | { readonly do: 'throw'; readonly what: 'error' | 'text' | 'nothing' }
  /** Executes operations and swallows their exceptions. */
  | { readonly do: 'try'; readonly ops: readonly ReducerOp[] }
  /** Sends a program to a cell. */
  | {
      readonly do: 'send';
      readonly to: Address;
      readonly ops: readonly ReducerOp[];
      readonly payload: Value;
      readonly creates: boolean;
      readonly reply: boolean;
    }
  /** Sends the same small program many times: more deliveries than fit one frame. */
  | { readonly do: 'fan'; readonly to: Address; readonly count: number; readonly ops: readonly ReducerOp[] }
  /** Starts a plan. */
  | { readonly do: 'emit'; readonly plan: readonly PlanOp[] }
  /** Cancels a plan, or all. */
  | { readonly do: 'cancel'; readonly plan: number | 'all' }
  /** Sets a timer and the operations to execute when it fires. */
  | { readonly do: 'timer'; readonly name: string; readonly in_ms: number; readonly ops: readonly ReducerOp[] }
  /** Clears a timer. */
  | { readonly do: 'clear'; readonly name: string }
  /** Appends to a log, so many times. */
  | { readonly do: 'append'; readonly log: string; readonly value: Value; readonly times: number }
  /** Stores a link to a log. */
  | { readonly do: 'head'; readonly log: string; readonly at: SlotPath }
  /** Puts into a table, under so many keys. */
  | {
      readonly do: 'put';
      readonly table: string;
      readonly key: string;
      readonly value: Value;
      readonly times: number;
    }
  /** Removes a number of keys from a table, starting at a key; records the removed entries. */
  | {
      readonly do: 'drop';
      readonly table: string;
      readonly key: string;
      readonly times: number;
      readonly at: SlotPath;
    }
  /** Records the content of a table: its size, its first entry, a range, and one value. */
  | { readonly do: 'page'; readonly table: string; readonly key: string; readonly limit: number; readonly at: SlotPath }
  /** States a fact. */
  | { readonly do: 'fact'; readonly value: Value }
  /** Writes an identifier and a random number. */
  | { readonly do: 'draw'; readonly at: SlotPath }
  /** Writes the time, the sender and the parent. */
  | { readonly do: 'stamp'; readonly at: SlotPath }
  /** Rejects the event. */
  | { readonly do: 'reject'; readonly code: string }
  /** Returns a value, which a recipe must not do. */
  | { readonly do: 'return'; readonly value: Value }
  /** Ends the cell. */
  | { readonly do: 'end' };

/** A change of a list. */
export type ListChange = 'push' | 'pop' | 'shift' | 'unshift' | 'reverse' | 'sort' | 'splice' | 'truncate' | 'share';

/** A thing that is not a canonical value. */
export type Illegal =
  | 'nan'
  | 'infinity'
  | 'function'
  | 'instance'
  | 'bigint'
  | 'symbol'
  | 'hole'
  | 'surrogate'
  | 'cycle'
  | 'bytes'
  | 'proto'
  | 'deep';

/** The kinds of effects that plan programs emit: one of each guarantee. */
export type ProgramEffect = 'law.again@1' | 'law.once@1' | 'law.ask@1';

/** One operation of a plan. Effects are named by the order of their emission, modulo their number. */
export type PlanOp =
  /** Emits an effect; `answer` is the answer of the scripted adapter, and is part of its parameters. */
  | { readonly do: 'effect'; readonly kind: ProgramEffect; readonly answer: Value; readonly timeout_ms: number | null }
  /** Waits for one. */
  | { readonly do: 'one'; readonly of: number; readonly within: number | null }
  /** Waits for the first of several. */
  | { readonly do: 'any'; readonly of: readonly number[]; readonly within: number | null }
  /** Waits for all of several. */
  | { readonly do: 'all'; readonly of: readonly number[]; readonly within: number | null }
  /** Tries an effect until it is ok. */
  | { readonly do: 'retry'; readonly kind: ProgramEffect; readonly answer: Value; readonly max: number }
  /** Reads a cell. */
  | { readonly do: 'peek'; readonly at: Address }
  /** Requests the cancellation of an effect. */
  | { readonly do: 'cancel'; readonly of: number }
  /** Sends a program to the plan's own cell. */
  | { readonly do: 'raise'; readonly ops: readonly ReducerOp[]; readonly payload: Value }
  /** Sends its cell everything that it has received so far, and the time. */
  | { readonly do: 'tell' }
  /** Makes a call that the engine refuses. */
  | { readonly do: 'wrong'; readonly what: 'params' | 'event' | 'yield' | 'effect' | 'within' | 'deep' }
  /** Throws. */
  | { readonly do: 'throw' }
  /** Executes operations and swallows their exceptions. */
  | { readonly do: 'try'; readonly ops: readonly PlanOp[] }
  /** Continues as a fresh instance. */
  | { readonly do: 'again'; readonly plan: readonly PlanOp[] }
  /** Ends here, also with pending effects. */
  | { readonly do: 'stop' };

/** The reducers of {@link programApp}: one that handles the kernel's notices and one that does not. */
export const PROGRAM_REDUCERS = { cell: 'law/Program@1', deaf: 'law/Deaf@1' } as const;

/** The events that carry a program; the first creates its cell, the second does not. */
export const PROGRAM_EVENTS = { made: 'law/Made@1', ran: 'law/Ran@1', told: 'law/Told@1' } as const;

/** The logs of a program's cell. */
export const PROGRAM_LOGS: readonly string[] = ['first', 'second'];

/** The tables of a program's cell. */
export const PROGRAM_TABLES: readonly string[] = ['left', 'right'];
