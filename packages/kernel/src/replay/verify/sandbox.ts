/**
 * The sandbox port: a place without clock, I/O, timers or chance, in which code that a file carries may replay.
 *
 * Invariants
 * C1  A sandbox is given what replay takes as given (the ingress and the riding attempts) and content by digest. What a
 *     frame holds beyond that never enters: the code has to come to the same bytes by itself.
 * C2  Nothing in it is believed: what comes out is compared in bytes, and its pins with those of the manifest.
 */
import { type ErrorDetails, Ref, RepriseError } from '@reprise/contracts';
import type { ContentReader } from '../../ports/content/port.js';
import type { FrameInputs } from '../../ports/journal/frame.js';
import { type Hash, toHex } from '../../pure/codec/index.js';
import type { MapRoot } from '../../run/map/index.js';
import { type Pins, pinsLacking, samePins } from './eras.js';

/** The largest pure code that a manifest may link: it is loaded whole, whenever its era is replayed. */
export const CODE_BYTES_MAX = 4 * 1024 * 1024;

/** Pure code as a world is opened with it, to be recorded. */
export interface PureCode {
  readonly bytes: Uint8Array;
  /** What the code defines, found by loading it in a sandbox. Rejects with `code_failed` when it does not load. */
  pins(): Promise<Pins>;
}

/** Loads pure code where it can reach nothing. `sandbox()` of `@reprise/sandbox` is one. */
export interface Sandbox {
  /**
   * Loads code.
   *
   * Contract: rejects with `code_failed` when it cannot be loaded, reaches for something outside while it loads, or does
   * not come to an end; nothing of it runs after `close`.
   */
  load(code: Uint8Array): Promise<LoadedCode>;
}

/** Code that was loaded, and can replay one era. */
export interface LoadedCode {
  readonly pins: Pins;
  /**
   * Begins with the state of a snapshot; with none for a new world. Called once, before the first frame.
   *
   * @param content read by digest alone; the sandbox checks nothing of it
   */
  begin(root: Ref | null, content: Pick<ContentReader, 'get'>): Promise<void>;
  /**
   * Replays the next frame.
   *
   * Contract: rejects with `code_failed` when the code does not come to an end or takes the sandbox down.
   */
  replay(inputs: FrameInputs): Promise<Performance>;
  /** Ends it, whatever it is doing. Idempotent. */
  close(): Promise<void>;
}

/** What came of replaying a frame in a sandbox. */
export type Performance =
  | {
      readonly status: 'replayed';
      /** The whole frame. */
      readonly bytes: Uint8Array;
      /** Content that replaying it made, to which state may link by a digest alone. */
      readonly made: readonly Ref[];
      /** Of a snapshot: the map of the state before it. */
      readonly map: MapRoot | null;
      /** What the code reached for and a sandbox does not have. */
      readonly touched: readonly string[];
    }
  /** The ingress was refused, in these words. */
  | { readonly status: 'refused'; readonly words: string };

/** Refuses what cannot be pure code. */
export function requirePureCode(thing: unknown): asserts thing is PureCode {
  const { bytes, pins } = (typeof thing === 'object' && thing !== null ? thing : {}) as Partial<PureCode>;
  if (!(bytes instanceof Uint8Array) || typeof pins !== 'function') {
    throw new RepriseError('invalid_argument', 'a world cannot be opened like this', {
      where: 'code',
      expected: 'pure code, such as pureCode(bytes) of reprise/sandbox makes',
      actual: thing,
    });
  }
  if (bytes.length <= CODE_BYTES_MAX) return;
  throw new RepriseError('bound_exceeded', 'this pure code is too large to be recorded', {
    where: 'code',
    expected: `${CODE_BYTES_MAX} bytes`,
    actual: bytes.length,
    hint: 'Bundle the module that defines the app, and nothing else.',
  });
}

/** The link under which code is recorded. */
export function codeRef(bytes: Uint8Array, hash: Hash): Ref {
  return Ref.fromHex(toHex(hash(bytes)));
}

/** Refuses code that does not define exactly what is pinned. */
export function requireSamePins(code: Pins, pinned: Pins, where: string): void {
  if (samePins(code, pinned)) return;
  const said = (names: readonly string[]) => (names.length === 0 ? 'nothing more' : names.join(', '));
  throw new RepriseError('code_mismatch', 'the pure code does not define exactly what it stands for', {
    where,
    expected: said(pinsLacking(pinned, code)),
    actual: said(pinsLacking(code, pinned)),
    hint: 'Bundle it again from the very app that the world is opened with: reprise bundle MODULE.',
  });
}

/** The error for code that a sandbox cannot load, or that it cannot replay to its end. */
export function codeFailed(what: string, facts: ErrorDetails = {}): RepriseError {
  return new RepriseError('code_failed', what, {
    hint: 'A sandbox has the language and the kernel, and nothing else. Whatever its code does, a world verifies without it.',
    ...facts,
  });
}
