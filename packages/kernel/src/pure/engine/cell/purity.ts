/**
 * Runs authors' pure code. While it runs the depth is above zero; `@reprise/kernel/guard`, when installed,
 * makes clocks, random, timers and I/O throw then. A violation is sticky: catching it does not hide it.
 *
 * What authors' code throws becomes one of three things, since a replay must decide in the same way. A fault, with a
 * code and without its text, which differs between engines (RED-4). Exhaustion, for every `RangeError`: whether a stack
 * overflows depends on the machine, so it is never journaled as the result of the code; a request is refused, and an
 * input is quarantined (REC-2, REC-3). A signal of the kernel's own, unchanged.
 */
import { lineOfError } from '@reprise/contracts';
import { Exhausted, Fault, Miss, Rejected } from '../leaf/signals.js';

/** Shared with the guard. Folding is synchronous, so a plain counter is enough. */
export const purity = {
  /** Above zero while authors' pure code runs. */
  depth: 0,
  /** The global that was touched, when one was. */
  violation: null as string | null,
  /** Called for every global that was touched; a sandbox names it where the fault alone would not. */
  heard: (_name: string): void => undefined,
};

/** Records that pure code touched a forbidden global. */
export function violate(name: string): void {
  purity.violation = name;
  purity.heard(name);
}

/**
 * Calls authors' code inside a savepoint.
 *
 * @returns what it returned
 * @throws Fault when it threw or touched a forbidden global; Exhausted when the machine ran out; Rejected, Miss unchanged
 */
export function runPure<T>(body: () => T): T {
  purity.depth++;
  try {
    const result = body();
    raiseViolation();
    hush(result);
    return result;
  } catch (thrown) {
    raiseViolation();
    throw classify(thrown);
  } finally {
    purity.depth--;
  }
}

/** Async code is not pure. Its promise is handled here, since an unhandled rejection would end the process. */
function hush(returned: unknown): void {
  if (Object.prototype.toString.call(returned) !== '[object Promise]') return;
  (returned as { catch(heard: () => void): void }).catch(() => undefined);
}

function raiseViolation(): void {
  const touched = purity.violation;
  if (touched === null) return;
  purity.violation = null;
  throw new Fault('nondeterminism', `pure code touched ${touched}`);
}

function classify(thrown: unknown): unknown {
  if (thrown instanceof Fault || thrown instanceof Rejected || thrown instanceof Miss) return thrown;
  // Any RangeError may be a stack overflow, and the stack depth differs between engines and even between flags.
  if (thrown instanceof RangeError) return new Exhausted(thrown);
  return new Fault('threw', lineOfError(thrown), thrown);
}
