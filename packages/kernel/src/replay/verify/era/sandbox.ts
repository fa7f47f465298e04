/**
 * The sandbox port: loads the code that a journal carries where there is no clock, I/O, timer or random number.
 *
 * Invariants
 * C1  A sandbox gets the inputs of replay (the ingress and the armed effects), and content by digest. The rest of a
 *     frame never enters: the code must come to the same bytes by itself.
 * C2  Its results are untrusted: they are compared in bytes, and its pins with those of the manifest.
 */
import { type ErrorDetails, Ref, RepriseError } from '@reprise/contracts';
import type { ContentReader } from '../../../ports/content/port.js';
import type { FrameInputs } from '../../../ports/journal/frame.js';
import type { Hash } from '../../../pure/codec/index.js';
import type { MapRoot } from '../../../state/map/index.js';
import { type Pins, pinsLacking, samePins } from './eras.js';

/** The largest pure code that a manifest may link: it is loaded whole, whenever its era is replayed. */
export const CODE_BYTES_MAX = 4 * 1024 * 1024;

/** Pure code to record when a world is opened. */
export interface PureCode {
  readonly bytes: Uint8Array;
  /** The definitions of the code, found by loading it in a sandbox. Rejects with `code_failed` when it cannot be loaded. */
  pins(): Promise<Pins>;
}

/** Loads pure code where it can reach nothing. `sandbox()` of `@reprise/sandbox` is one. */
export interface Sandbox {
  /**
   * Loads code.
   *
   * Contract: rejects with `code_failed` when it cannot be loaded, reaches for something outside while it loads, or
   * does not come to an end; no part of it runs after `close`.
   */
  load(code: Uint8Array): Promise<LoadedCode>;
}

/** Loaded code, which can replay one era. */
export interface LoadedCode {
  readonly pins: Pins;
  /**
   * Begins with the state of a snapshot, or null for a new world. Called once, before the first frame.
   *
   * @param content read by digest alone; the sandbox does not check it
   */
  begin(root: Ref | null, content: Pick<ContentReader, 'get'>): Promise<void>;
  /**
   * Replays the next frame.
   *
   * @param fromBytes decodes every leaf and rebuilds every plan that the frame needs
   *
   * Contract: rejects with `code_failed` when the code does not come to an end or crashes the sandbox.
   */
  replay(inputs: FrameInputs, fromBytes: boolean): Promise<Performance>;
  /** Ends it at once. Idempotent. */
  close(): Promise<void>;
}

/** The result of replaying a frame in a sandbox. */
export type Performance =
  | {
      readonly status: 'replayed';
      /** The bytes of the whole frame as replay made it. */
      readonly bytes: Uint8Array;
      /** Content that replaying it made, which state may link by digest alone. */
      readonly made: readonly Ref[];
      /** For a snapshot: the map of the state before it. */
      readonly map: MapRoot | null;
      /** The missing names that the code reached for. */
      readonly touched: readonly string[];
    }
  /** The ingress was refused, with this text. */
  | { readonly status: 'refused'; readonly words: string };

/** Refuses anything but pure code. */
export function requirePureCode(thing: unknown): asserts thing is PureCode {
  const { bytes, pins } = (typeof thing === 'object' && thing !== null ? thing : {}) as Partial<PureCode>;
  if (!(bytes instanceof Uint8Array) || typeof pins !== 'function') {
    throw new RepriseError('invalid_argument', 'invalid option of openWorld', {
      where: 'code',
      expected: 'pure code, made by pureCode(bytes) of reprise/sandbox',
      actual: thing,
    });
  }
  if (bytes.length <= CODE_BYTES_MAX) return;
  throw new RepriseError('bound_exceeded', 'the pure code is too large to be recorded', {
    where: 'code',
    expected: `${CODE_BYTES_MAX} bytes`,
    actual: bytes.length,
    hint: 'Bundle only the module that defines the app.',
  });
}

/** The link under which code is recorded. */
export function codeRef(bytes: Uint8Array, hash: Hash): Ref {
  return Ref.fromDigest(hash(bytes));
}

/** Refuses code whose definitions are not exactly the pinned ones. */
export function requireSamePins(code: Pins, pinned: Pins, where: string): void {
  if (samePins(code, pinned)) return;
  const said = (names: readonly string[]) => (names.length === 0 ? 'nothing more' : names.join(', '));
  throw new RepriseError('code_mismatch', 'the definitions of the pure code differ from the pinned ones', {
    where,
    expected: said(pinsLacking(pinned, code)),
    actual: said(pinsLacking(code, pinned)),
    hint: 'Bundle it again from the app that the world is opened with: reprise bundle MODULE.',
  });
}

/** The error for code that a sandbox cannot load, or cannot replay to its end. */
export function codeFailed(what: string, facts: ErrorDetails = {}): RepriseError {
  return new RepriseError('code_failed', what, {
    hint: 'A sandbox has only the language and the kernel. A world can be verified without running its code.',
    ...facts,
  });
}
