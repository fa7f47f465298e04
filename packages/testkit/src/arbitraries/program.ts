/**
 * Programs for reducers and plans, as plain values: what a random world does. An event carries the operations that
 * its reducer performs, an intent those of its plan, so one fixed app performs every program, and a journal holds
 * all that is needed to replay it.
 *
 * The operations are chosen to break an engine that is not careful: keys in odd orders, one object under two names,
 * a payload that is stored and then written, −0, `undefined`, exceptions half-way and swallowed.
 */
import type { Address, Value } from '@reprise/contracts';

/** Where an operation writes: a key of the cell's bag, and keys of the maps below it. */
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
  /** Puts the very same thing under a second name. */
  | { readonly do: 'alias'; readonly from: SlotPath; readonly at: SlotPath }
  /** Writes into the map that stands there, if one does. */
  | { readonly do: 'touch'; readonly at: SlotPath; readonly value: Value }
  /** Stores the event's payload itself. */
  | { readonly do: 'keep'; readonly at: SlotPath }
  /** Writes into the event's payload, stored before or not. */
  | { readonly do: 'spoil'; readonly value: Value }
  /** Changes the list. */
  | { readonly do: 'list'; readonly how: ListChange; readonly value: Value }
  /** Writes down what can be seen of the state: orders, sameness, signs. */
  | { readonly do: 'look' }
  /** Deletes the key that has a constant default. */
  | { readonly do: 'unmark' }
  /** Writes what is no value. */
  | { readonly do: 'illegal'; readonly what: Illegal }
  /** Throws. */
  | { readonly do: 'throw'; readonly what: 'error' | 'text' | 'nothing' }
  /** Performs, and swallows what is thrown. */
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
  /** Sets a timer and what to do then. */
  | { readonly do: 'timer'; readonly name: string; readonly in_ms: number; readonly ops: readonly ReducerOp[] }
  /** Clears a timer. */
  | { readonly do: 'clear'; readonly name: string }
  /** Appends to a log, so many times. */
  | { readonly do: 'append'; readonly log: string; readonly value: Value; readonly times: number }
  /** Keeps a link to a log. */
  | { readonly do: 'head'; readonly log: string; readonly at: SlotPath }
  /** Puts into a table, under so many keys. */
  | {
      readonly do: 'put';
      readonly table: string;
      readonly key: string;
      readonly value: Value;
      readonly times: number;
    }
  /** Removes from a table, so many keys from one on; writes down what was there. */
  | {
      readonly do: 'drop';
      readonly table: string;
      readonly key: string;
      readonly times: number;
      readonly at: SlotPath;
    }
  /** Writes down what a table holds: its size, its first entry, a range, and one value. */
  | { readonly do: 'page'; readonly table: string; readonly key: string; readonly limit: number; readonly at: SlotPath }
  /** States a fact. */
  | { readonly do: 'fact'; readonly value: Value }
  /** Writes an identifier and a random number. */
  | { readonly do: 'draw'; readonly at: SlotPath }
  /** Writes the time, the sender and the parent. */
  | { readonly do: 'stamp'; readonly at: SlotPath }
  /** Rejects the event. */
  | { readonly do: 'reject'; readonly code: string }
  /** Returns something, which a recipe may not. */
  | { readonly do: 'return'; readonly value: Value }
  /** Ends the cell. */
  | { readonly do: 'end' };

/** A change of a list. */
export type ListChange = 'push' | 'pop' | 'shift' | 'unshift' | 'reverse' | 'sort' | 'splice' | 'truncate' | 'share';

/** Something that is no canonical value. */
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

/** One operation of a plan. Effects are named by the order of their emission, modulo how many there are. */
export type PlanOp =
  /** Emits an effect; `answer` says how a scripted outside answers, and is part of its parameters. */
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
  /** Asks for an effect to be cancelled. */
  | { readonly do: 'cancel'; readonly of: number }
  /** Raises a program for the plan's own cell. */
  | { readonly do: 'raise'; readonly ops: readonly ReducerOp[]; readonly payload: Value }
  /** Tells its cell all that it has heard so far, and the time. */
  | { readonly do: 'tell' }
  /** Does what the engine refuses. */
  | { readonly do: 'wrong'; readonly what: 'params' | 'event' | 'yield' | 'effect' | 'within' | 'deep' }
  /** Throws. */
  | { readonly do: 'throw' }
  /** Performs, and swallows what is thrown. */
  | { readonly do: 'try'; readonly ops: readonly PlanOp[] }
  /** Goes on as a fresh instance. */
  | { readonly do: 'again'; readonly plan: readonly PlanOp[] }
  /** Ends here, whatever is open. */
  | { readonly do: 'stop' };

/** The reducers of {@link programApp}: one that takes the kernel's notices and one that is deaf to them. */
export const PROGRAM_REDUCERS = { cell: 'law/Program@1', deaf: 'law/Deaf@1' } as const;

/** The event that brings a program; the first makes its cell, the second does not. */
export const PROGRAM_EVENTS = { made: 'law/Made@1', ran: 'law/Ran@1', told: 'law/Told@1' } as const;

/** The logs of a program's cell. */
export const PROGRAM_LOGS: readonly string[] = ['first', 'second'];

/** The tables of a program's cell. */
export const PROGRAM_TABLES: readonly string[] = ['left', 'right'];
