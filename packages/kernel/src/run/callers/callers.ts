/**
 * Which effect the code that runs now belongs to, and what such code waits for: an effect that waits for its own cell would
 * wait for ever, in silence.
 *
 * Invariants
 * C1  Only what the code of an open effect waits for is refused. It counts as open until its adapter has answered, was told
 *     to stop, or says that the author's code has returned.
 * C2  A wait is refused when what is awaited waits for the cell of the effect, also by way of the waits of other effects: of
 *     several in a circle the last one.
 * C3  Listeners of the app belong to no effect, whatever input they hear of.
 *
 * The platform carries the effect along with its promises (`AsyncLocalStorage`). Where it does not, nothing is refused.
 */
import { type Address, formatAddress, RepriseError } from '@reprise/contracts';
import { macrotask } from '../../ports/time/turn.js';

/** Whether what is awaited cannot end before an open effect of this cell ends. */
export type WaitsFor = (cell: Address) => boolean | Promise<boolean>;

/** The code of one open effect. */
export interface Caller {
  /** The world that the effect is in. */
  readonly callers: Callers;
  readonly effect: string;
  readonly name: string;
  readonly cell: Address;
  isOpen: boolean;
}

/** What carries a value along with the promises of the code that it was set for. */
interface Carrier {
  run<T>(caller: Caller, run: () => T): T;
  exit<T>(run: () => T): T;
  getStore(): Caller | undefined;
}

/** A wait of the code of an effect. */
interface Wait {
  readonly caller: Caller;
  readonly waitsFor: WaitsFor;
}

let carried: Carrier | null | undefined;

/** Runs code that belongs to no effect (C3). */
export function outsideEffects<T>(run: () => T): T {
  return carried == null ? run() : carried.exit(run);
}

/** The code of the open effects of one world, and its waits. */
export class Callers {
  readonly #waits = new Set<Wait>();

  /** Runs the code of an effect. */
  run<T>(caller: Caller, run: () => T): T {
    carried = carried === undefined ? carrier() : carried;
    return carried === null ? run() : carried.run(caller, run);
  }

  /** The effect of this world whose code runs now, while it is open. */
  get current(): Caller | undefined {
    const caller = carried?.getStore();
    return caller?.callers === this && caller.isOpen ? caller : undefined;
  }

  /**
   * Begins a wait of the code that runs now. Undefined when it belongs to no effect of this world.
   *
   * @param waitsFor what has to end before the wait does
   */
  wait(waitsFor: WaitsFor): CallerWait | undefined {
    const caller = this.current;
    if (caller === undefined) return undefined;
    const wait: Wait = { caller, waitsFor };
    this.#waits.add(wait);
    return {
      requirePossible: async (where) => {
        if (!caller.isOpen || !(await this.#isCircle(wait))) return;
        await macrotask(); // code that returns and leaves the wait behind does so by now
        if (caller.isOpen) throw waitsForItself(caller, where);
      },
      end: () => void this.#waits.delete(wait),
    };
  }

  /** Whether a wait waits for its own effect, also by way of earlier waits: the last of a circle is refused (C2). */
  async #isCircle(own: Wait): Promise<boolean> {
    const followed = new Set([own]);
    for (const { waitsFor } of followed) {
      if (await waitsFor(own.caller.cell)) return true;
      for (const other of this.#before(own))
        if (!followed.has(other) && (await waitsFor(other.caller.cell))) followed.add(other);
    }
    return false;
  }

  /** The waits of open effects that began before one. */
  #before(own: Wait): readonly Wait[] {
    const all = [...this.#waits];
    return all.slice(0, all.indexOf(own)).filter(({ caller }) => caller.isOpen && caller !== own.caller);
  }
}

/** A wait of the code of an effect. */
export interface CallerWait {
  /** @throws RepriseError `waits_for_itself` when the cell waits for the effect of this code */
  requirePossible(where: Address): Promise<void>;
  end(): void;
}

/** The error of code that waits for what its own effect holds up. */
export function waitsForItself({ name, cell, effect }: Caller, awaited?: Address): RepriseError {
  const own = formatAddress(cell);
  const on = awaited === undefined ? 'all open effects of its world' : formatAddress(awaited);
  return new RepriseError('waits_for_itself', `an effect waits for ${on}, which waits for that effect`, {
    where: `${name} of ${own}`,
    expected: 'a wait for what can end first',
    actual: `${on} goes on when ${name} of ${own} has ended`,
    effect,
    hint: 'Return from the tool or the adapter without this wait: a message that was sent is answered afterwards. Wait outside, or ask another session that does not wait for this one.',
  });
}

/**
 * The platform's own class, where it can be had without a module of the platform. One for the process, whatever number of
 * copies of this module it loads: up to Node 22 each promise of the process pays for each of these objects, for good.
 */
function carrier(): Carrier | null {
  const shared = globalThis as { [CARRIER]?: Carrier | null };
  shared[CARRIER] ??= newCarrier();
  return shared[CARRIER];
}

const CARRIER = Symbol.for('@reprise/kernel carrier of callers');

function newCarrier(): Carrier | null {
  const { process } = globalThis as {
    process?: { getBuiltinModule?(name: string): { readonly AsyncLocalStorage?: new () => Carrier } | undefined };
  };
  const { AsyncLocalStorage } = process?.getBuiltinModule?.('node:async_hooks') ?? {};
  return AsyncLocalStorage === undefined ? null : new AsyncLocalStorage();
}
