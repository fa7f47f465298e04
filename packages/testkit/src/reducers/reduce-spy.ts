/**
 * Compares the engine with `reduce()`: a spy replaces the reducer, lets the engine's delivery run, and lets
 * immer reduce the same event on its own frozen state, with the answers that the engine's `ctx` gave.
 */
import { formatAddress } from '@reprise/contracts';
import {
  type App,
  decode,
  defineApp,
  encode,
  LEAF_BYTES_MAX,
  type ReducerContext,
  type ReducerDefinition,
  toHex,
} from '@reprise/kernel';
import { reduce } from '@reprise/kernel/reduce';

type Reduce = typeof reduce;

/** The counts of the spy. */
export interface SpiedApp {
  readonly app: App;
  /** The number of deliveries that were compared. */
  readonly deliveries: () => number;
  /** The number of deliveries that both refused. */
  readonly dropped: () => number;
  /** The state of a cell by the oracle, in bytes as hex; undefined when it has none. */
  readonly stateOf: (address: readonly [string, string]) => string | undefined;
}

/**
 * An app whose reducers are compared with `reduce()` at every delivery: the state before it, in bytes. The test
 * compares the state after the last delivery.
 *
 * @param app whose reducers are spied on
 * @param oracle `reduce`, or a mutant of it
 */
export function spyOnReducers(app: App, oracle: Reduce = reduce): SpiedApp {
  const spy = new Spy(oracle);
  const reducers = [...app.reducers.values()].map((reducer) => spy.around(reducer));
  return {
    app: defineApp({ reducers, plans: [...app.plans.values()] }),
    deliveries: () => spy.deliveries,
    dropped: () => spy.dropped,
    stateOf: (address) => spy.bytesOf(formatAddress([address[0], address[1]])),
  };
}

class Spy {
  deliveries = 0;
  dropped = 0;
  readonly #states = new Map<string, unknown>();

  constructor(private readonly oracle: Reduce) {}

  around(reducer: ReducerDefinition): ReducerDefinition {
    return {
      ...reducer,
      reduce: (draft, event, ctx) => {
        const address = formatAddress([ctx.address[0], ctx.address[1]]);
        const known = this.bytesOf(address);
        const given = toHex(encode(draft));
        if (known !== undefined && known !== given) {
          throw new ReduceMismatch(`${address} before ${event.name}: the engine has ${given}, reduce() has ${known}`);
        }
        const own = { name: event.name, value: decode(encode(event.value)) };
        const tape = new Tape();
        try {
          return reducer.reduce(draft, event, tape.recording(ctx));
        } finally {
          this.#compare(reducer, address, own, tape.playing(ctx));
        }
      },
    };
  }

  bytesOf(address: string): string | undefined {
    const state = this.#states.get(address);
    return state === undefined ? undefined : toHex(encode(state));
  }

  /** The oracle's result is its state from here on; what it refuses changes nothing, like a fault of the engine. */
  #compare(
    reducer: ReducerDefinition,
    address: string,
    event: { name: string; value: unknown },
    playback: Playback,
  ): void {
    this.deliveries++;
    try {
      const { state } = this.oracle(reducer, this.#states.get(address), event, playback.ctx);
      if (encode(state).length > LEAF_BYTES_MAX - BOOKKEEPING_BYTES) this.#states.delete(address);
      else if (playback.ended()) this.#states.delete(address);
      else this.#states.set(address, state);
    } catch {
      this.dropped++;
    }
  }
}

/** Near the engine's bound the two may differ: the engine also counts its own data about the cell. */
const BOOKKEEPING_BYTES = 8 * 1024;

/** The engine and `reduce()` differ. */
export class ReduceMismatch extends Error {}

interface Playback {
  readonly ctx: ReducerContext;
  ended(): boolean;
}

type Answer = { readonly returned: unknown } | { readonly thrown: unknown };

/** The answers of a context, call by call. */
class Tape {
  readonly #answers: Answer[] = [];
  #ended = false;

  recording(ctx: ReducerContext): ReducerContext {
    return proxied(ctx, (call, name) => {
      if (name === 'end') this.#ended = true;
      try {
        const returned = call();
        this.#answers.push({ returned });
        return returned;
      } catch (thrown) {
        this.#answers.push({ thrown });
        throw thrown;
      }
    });
  }

  playing(ctx: ReducerContext): Playback {
    let at = 0;
    return {
      ended: () => this.#ended,
      ctx: proxied(ctx, (_, name) => {
        const answer = this.#answers[at++];
        if (answer === undefined) throw new ReduceMismatch(`reduce() asked ctx.${name} more often than the engine`);
        if ('thrown' in answer) throw answer.thrown;
        return answer.returned;
      }),
    };
  }
}

type OnCall = (call: () => unknown, name: string) => unknown;

/** A table answers during a delivery, so its calls and its size are recorded like those of the context. */
function proxied<T extends object>(target: T, onCall: OnCall): T {
  return new Proxy(target, {
    get: (_, key) => {
      if (key === 'size') return onCall(() => Reflect.get(target, key, target), key);
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      if (key === 'table')
        return (...given: unknown[]) => tableOf(target, () => Reflect.apply(member, target, given), onCall);
      return (...given: unknown[]) => onCall(() => Reflect.apply(member, target, given), String(key));
    },
  });
}

/** The table that a call opened, recorded; in a playback the real one stands behind it, unused. */
function tableOf(ctx: object, open: () => unknown, onCall: OnCall): object {
  const opened = onCall(open, 'table');
  return proxied(typeof opened === 'object' && opened !== null ? opened : ctx, onCall);
}
