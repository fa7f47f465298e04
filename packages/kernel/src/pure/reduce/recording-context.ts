/** A context for `reduce()` in tests: fixed answers, and a record of the reducer's requests. */
import { type Address, Ref, RepriseError, requireFields, type Value } from '@reprise/contracts';
import { digestOf, type ReducerContext } from '../define/index.js';
import { Rejected } from '../engine/index.js';

/** The answers of a {@link recordingContext}. */
interface RecordingContextOptions {
  /** The cell; `['test/Reducer@1', 'test']` when absent. */
  readonly address?: Address;
  /** The frame's time in milliseconds; 0 when absent. */
  readonly now?: number;
  /** The sender of the event; the outside when absent. */
  readonly sender?: ReducerContext['sender'];
  /** The plan for whose effect an adapter sent the event; null when absent. */
  readonly adapter?: ReducerContext['adapter'];
  /** Who sent the request; null when absent. */
  readonly actor?: ReducerContext['actor'];
  /** The cell that made this one; null when absent. */
  readonly parent?: Address | null;
  /** The key of the row that the sender has, see `by.row`; null when absent. */
  readonly rowKey?: string | null;
  /** The results of `ctx.random()`, in order; 0 when the list is at its end. */
  readonly random?: readonly number[];
}

/** One call of the reducer: the method's name, then its arguments. */
type ContextCall = readonly [method: keyof ReducerContext, ...args: readonly unknown[]];

/** A context that records its calls. */
export interface RecordingContext extends ReducerContext {
  /** The reducer's requests, in order: `['emit', intent]`, `['timer', name, at]` … */
  readonly calls: readonly ContextCall[];
}

/**
 * Makes a context for one call of `reduce()`. It executes no request, and records each in `calls`.
 * `ctx.id` counts, plans are numbered from 0, and `ctx.reject` makes `reduce()` throw `request_rejected`.
 *
 * @throws RepriseError `invalid_argument` from `ctx.table`: tables need the engine, so test them with `givenReducer`
 * @example
 * const ctx = recordingContext({ now: 1_000 })
 * const { state, patches } = reduce(order, undefined, { name: 'shop/Placed@1', value: { cents: 500 } }, ctx)
 * ctx.calls // [['timer', 'unpaid', 61_000]]
 */
export function recordingContext(options: RecordingContextOptions = {}): RecordingContext {
  requireFields(options, 'recordingContext(options)', 'an object with any of address, now, sender');
  const { address = ['test/Reducer@1', 'test'], now = 0, sender = null, adapter = null, parent = null } = options;
  const { actor = null, random = [], rowKey = null } = options;
  const calls: ContextCall[] = [];
  const noted =
    (method: keyof ReducerContext) =>
    (...args: readonly unknown[]): void => {
      calls.push([method, ...args]);
    };
  const counted = (method: keyof ReducerContext): number => calls.filter(([name]) => name === method).length;
  return {
    address,
    now,
    sender,
    adapter,
    actor,
    parent,
    rowKey,
    caller: sender === null ? null : [sender[0], sender[1]],
    plan: sender?.length === 3 && sender[0] === address[0] && sender[1] === address[1] ? sender[2] : null,
    calls,
    send: noted('send'),
    forget: noted('forget'),
    takes: () => true,
    record: noted('record'),
    timer: noted('timer'),
    clearTimer: noted('clearTimer'),
    cancel: noted('cancel'),
    stop: noted('stop'),
    command: noted('command'),
    append: noted('append'),
    end: noted('end'),
    emit(intent) {
      noted('emit')(intent);
      return counted('emit') - 1;
    },
    logHead(log) {
      noted('logHead')(log);
      return Ref.fromHex('0'.repeat(64), 'value');
    },
    id(label) {
      noted('id')(label);
      return counted('id').toString(16).padStart(32, '0');
    },
    random() {
      noted('random')();
      return random[counted('random') - 1] ?? 0;
    },
    hash: (value) => digestOf(value as Value),
    table(name: string): never {
      throw new RepriseError('invalid_argument', 'a recording context has no tables', {
        actual: name,
        hint: 'Test reducers with tables by givenReducer, which runs the engine.',
      });
    },
    reject(code) {
      noted('reject')(code);
      throw new Rejected(code);
    },
  };
}
