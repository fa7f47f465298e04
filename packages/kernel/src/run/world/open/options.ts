/** The options of opening a world, and the checks that run before anything is touched. */
import {
  type Address,
  type ArgumentCheck,
  checkOf,
  type ErrorCode,
  type FaultCode,
  isObject,
  isTextWithin,
  isWhole,
  matchesNoEvent,
  type PlanAddress,
  type PolicyRule,
  policyRule,
  RepriseError,
  requireKnownOptions,
  type Value,
} from '@reprise/contracts';
import type { AnyAdapter } from '../../../ports/adapter/adapter.js';
import { SECRET_LENGTH_MIN } from '../../../ports/scrub/index.js';
import type { Store } from '../../../ports/store/store.js';
import type { Clock, RandomBytes } from '../../../ports/time/clock.js';
import { CLOCK_JUMP_LIMITS, type ClockJump, type ClockJumpLimits } from '../../../ports/time/stamper.js';
import { encode, toHex } from '../../../pure/codec/index.js';
import type { App } from '../../../pure/define/index.js';
import { type PureCode, requirePureCode } from '../../../replay/verify/era/sandbox.js';
import type { EffectErrorOrigin } from '../../dispatch/reported-errors.js';
import type { Throttle } from '../../dispatch/throttle.js';
import { RESERVED_ADAPTERS } from '../write/own-inputs.js';
import { type ExpectedHead, isExpectedHead } from './expected-head.js';

/** Where an error came from. */
export type ErrorOrigin =
  | EffectErrorOrigin
  /** A plan that threw. */
  | { readonly source: 'plan'; readonly plan: PlanAddress; readonly name: string; readonly code: FaultCode }
  /** A reducer that threw on an event. */
  | { readonly source: 'cell'; readonly cell: Address; readonly event: string; readonly code: FaultCode }
  /**
   * The world: it writes nothing more, since its store failed or the kernel broke one of its own invariants; or inputs wait
   * for room in a full store (`store_full`), which is reported again every minute.
   */
  | { readonly source: 'world'; readonly code: ErrorCode };

/** Options of opening a world. */
export interface OpenKernelWorldOptions {
  /** The store of the world; the world is created when absent. */
  readonly store: Store;
  /** The pure code of the app. */
  readonly app: App;
  /** Earlier apps, to replay what was written with them: the end of the era before, and old eras in `verify`. */
  readonly legacy?: readonly App[];
  /** Cancels running plans that the app no longer has, instead of refusing to open. */
  readonly plansInFlight?: 'cancel';
  /** Execute the effects. An effect whose kind has no adapter is settled as `adapter_error/no_adapter`. */
  readonly adapters?: readonly AnyAdapter[];
  /**
   * The gate's rules, besides rights. A new world without a policy takes the app's, and allows everything when the app
   * has none either. An existing world keeps its policy when none is given, and begins another era with a given one:
   * effects that it forbids end at once. A world that was made without any policy begins an era with the app's. A
   * function makes the policy from that of the world, or from undefined where nobody chose one.
   */
  readonly policy?: readonly PolicyRule[] | ((now: readonly PolicyRule[] | undefined) => readonly PolicyRule[]);
  /**
   * The app's pure code, recorded in the manifest so that the world can be replayed where the app is not at hand. It
   * is loaded once in a sandbox before it is recorded, and must define exactly what the app does. An existing world
   * keeps its own code when none is given, and begins another era with other code.
   */
  readonly code?: PureCode;
  /** `auto` (default) works by itself; `manual` starts effects and timers only inside `pump`. */
  readonly drive?: 'auto' | 'manual';
  /**
   * Frames between snapshots; 0 for snapshots on demand only. By default 1,000 to 20,000, growing with the number of
   * cells that change between them; a frame of more than 16 KiB counts once for each.
   */
  readonly snapshotEvery?: number;
  /** Replays one frame in this many a second time while running, and compares; 256 by default, 1 for all, 0 for none. */
  readonly recheckEvery?: number;
  /** Resolves secrets by name, for adapters. */
  readonly secrets?: (name: string) => Promise<string>;
  /**
   * Texts that must not be stored, shown or thrown, besides the known secrets: those that `secrets` returned, and the
   * keys that adapters, models and tools send. Each has 8 characters or more.
   */
  readonly conceal?: readonly string[];
  /**
   * Receives each caught error as it was thrown, and its source: an adapter or a tool that failed, a plan or a reducer
   * that threw. An error with a secret in it is passed as a copy without it. Telemetry: an error that the function
   * throws is dropped. `openWorld` of `reprise` writes each kind of error once on standard error when it is absent.
   */
  readonly onError?: (error: unknown, origin: ErrorOrigin) => void;
  /** Receives the notes of running effects; telemetry, never journaled. */
  readonly onProgress?: (effect: string, note: Value) => void;
  /** Called when a cell's state grows beyond 8 KiB: every event pays for encoding it. Telemetry. */
  readonly onLargeState?: (cell: Address, bytes: number) => void;
  /** Admits effects one by one, where several worlds share a limit; a host supplies its own. */
  readonly throttle?: Throttle;
  /**
   * How far ahead of the world's time the wall clock is still followed, in milliseconds: by default a week while the
   * world runs, 400 days at opening. Beyond that, time goes on without it until `confirmClock`.
   */
  readonly clockJump?: Partial<ClockJumpLimits>;
  /** Called with the jump when the wall clock is too far ahead to be followed, and with undefined when that is over. */
  readonly onClockJump?: (jump: ClockJump | undefined) => void;
  /**
   * The last head that the caller knows of this world, from an acknowledgement or `world.head`. A journal without it is
   * refused as `head_mismatch`: it is an older copy, or a new world in place of an old one.
   */
  readonly expectHead?: ExpectedHead;
  readonly clock?: Clock;
  readonly random?: RandomBytes;
}

/** The names of the options: another name is a misspelled one, which would otherwise be ignored. */
const OPTIONS: Readonly<Record<keyof OpenKernelWorldOptions, true>> = {
  store: true,
  app: true,
  legacy: true,
  plansInFlight: true,
  adapters: true,
  policy: true,
  code: true,
  drive: true,
  snapshotEvery: true,
  recheckEvery: true,
  secrets: true,
  conceal: true,
  onError: true,
  onProgress: true,
  onLargeState: true,
  throttle: true,
  clockJump: true,
  onClockJump: true,
  expectHead: true,
  clock: true,
  random: true,
};

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of openWorld');

/**
 * Refuses options that could not work, or that would be journaled and could not be read back.
 *
 * @throws RepriseError `invalid_argument`, `invalid_name`, `invalid_definition`, `duplicate_definition`, `bound_exceeded`
 */
export function requireOptions(options: OpenKernelWorldOptions): void {
  require(isObject(options), 'options', 'an object with a store and an app', options);
  requireKnownOptions(options, OPTIONS, 'openWorld');
  const { store, app, adapters = [], policy = [], legacy = [], drive, snapshotEvery = 0, recheckEvery = 0 } = options;
  require(isObject(store) && typeof store.open === 'function', 'store', 'a store, such as memory()', store);
  require(isApp(app), 'app', 'an app made by defineApp', app);
  require(Array.isArray(legacy) && legacy.every(isApp), 'legacy', 'a list of apps made by defineApp', legacy);
  require(options.plansInFlight === undefined ||
    options.plansInFlight === 'cancel', 'plansInFlight', 'cancel', options.plansInFlight);
  require(drive === undefined || drive === 'auto' || drive === 'manual', 'drive', 'auto or manual', drive);
  require(isWhole(snapshotEvery), 'snapshotEvery', 'a whole number of frames', snapshotEvery);
  require(isWhole(recheckEvery), 'recheckEvery', 'a whole number of frames', recheckEvery);
  if (typeof policy === 'function') policyFrom(policy, undefined);
  else requirePolicy(policy, 'policy');
  requirePolicy(app.policy ?? [], 'app.policy');
  require(Array.isArray(adapters), 'adapters', 'a list of adapters', adapters);
  for (const [i, adapter] of adapters.entries()) {
    const whole = isObject(adapter) && isObject(adapter.effect) && typeof adapter.doExecute === 'function';
    require(whole, `adapters[${i}]`, 'an adapter: effect, name, doExecute', adapter);
  }
  requireAdapters(options);
  requireHooks(options);
  if (options.code !== undefined) requirePureCode(options.code);
}

/**
 * The policy that a function of the world's policy gives.
 *
 * @throws RepriseError `invalid_argument` when it throws, or gives anything but a list of rules
 */
export function policyFrom(
  choose: (now: readonly PolicyRule[] | undefined) => readonly PolicyRule[],
  now: readonly PolicyRule[] | undefined,
): readonly PolicyRule[] {
  const chosen = chosenBy(choose, now);
  requirePolicy(chosen, 'policy', now);
  return chosen;
}

function chosenBy<T>(choose: (now: T | undefined) => T, now: T | undefined): T {
  try {
    return choose(now);
  } catch (cause) {
    throw new RepriseError('invalid_argument', 'the function that makes the policy throws', { where: 'policy', cause });
  }
}

/** @param known rules of the world: one that can match nothing stays, since the world was recorded with it */
function requirePolicy(policy: readonly PolicyRule[], where: string, known: readonly PolicyRule[] = []): void {
  require(Array.isArray(policy), where, 'a list of rules', policy);
  for (const [i, rule] of policy.entries()) {
    require(policyRule.safeParse(rule).success, `${where}[${i}]`, '{effect, decision: allow | deny}', rule);
    const canMatch = known.includes(rule) || !matchesNoEvent(rule);
    require(canMatch, `${where}[${i}]`, '`send` with an event after `#`, or a star at its end', rule);
    encode(rule); // refuses malformed text
  }
}

function requireHooks(options: OpenKernelWorldOptions): void {
  const { clock, random, secrets, onProgress, onError, onLargeState, onClockJump } = options;
  for (const [where, hook] of Object.entries({ random, secrets, onProgress, onError, onLargeState, onClockJump })) {
    require(hook === undefined || typeof hook === 'function', where, 'a function', hook);
  }
  requireConcealed(options.conceal);
  requireLimits(options.clockJump);
  const { expectHead } = options;
  const head = expectHead === undefined || isExpectedHead(expectHead);
  require(head, 'expectHead', '{seq, digest}, or a digest of 64 lower-case hex digits', expectHead);
  const { throttle } = options;
  const lets = throttle === undefined || (isObject(throttle) && typeof throttle.enter === 'function');
  require(lets, 'throttle', 'a throttle: enter', throttle);
  if (clock === undefined) return;
  const parts = isObject(clock) ? [clock.wall, clock.monotonic, clock.sleep] : [undefined];
  require(parts.every((part) => typeof part === 'function'), 'clock', 'a clock: wall, monotonic, sleep', clock);
}

function requireConcealed(conceal: unknown = []): void {
  require(Array.isArray(conceal), 'conceal', 'a list of texts', conceal);
  for (const [i, text] of (conceal as readonly unknown[]).entries()) {
    const isLong = typeof text === 'string' && text.trim().length >= SECRET_LENGTH_MIN;
    require(isLong, `conceal[${i}]`, `text of ${SECRET_LENGTH_MIN} characters or more`, text);
  }
}

function requireLimits(limits: unknown = {}): void {
  require(isObject(limits), 'clockJump', '{running?, atOpen?}', limits);
  for (const [name, limit] of Object.entries(limits as object)) {
    const known = Object.hasOwn(CLOCK_JUMP_LIMITS, name) && typeof limit === 'number' && limit >= 0;
    require(known, `clockJump.${name}`, 'running or atOpen, in milliseconds', limit);
  }
}

/** Draws random bytes as hex; a wrong length would make a world that cannot be read back. */
export function drawHex(random: RandomBytes, length: number): string {
  const bytes: unknown = random(length);
  require(bytes instanceof Uint8Array && bytes.length === length, 'random', `${length} bytes`, bytes);
  return toHex(bytes as Uint8Array);
}

function isApp(thing: unknown): boolean {
  return isObject(thing) && [thing.reducers, thing.plans, thing.effects].every((part) => part instanceof Map);
}

/** Checks the adapters now: otherwise a wrong one would be found only when an effect is due. */
function requireAdapters({ adapters = [], app }: OpenKernelWorldOptions): void {
  const seen = new Set<string>();
  for (const { effect, name, concurrency = 1, doReconcile } of adapters) {
    if (seen.has(effect.name)) {
      throw new RepriseError('duplicate_definition', `duplicate adapter for ${effect.name}`, {
        hint: 'Register one adapter for each kind.',
      });
    }
    seen.add(effect.name);
    if (typeof name !== 'string' || name === '' || !isTextWithin(name, 128) || RESERVED_ADAPTERS.includes(name)) {
      throw new RepriseError('invalid_name', 'invalid adapter name', {
        expected: `text of 1 to 128 characters, not ${RESERVED_ADAPTERS.join(' or ')}`,
        actual: name,
      });
    }
    if (!isWhole(concurrency, 1)) {
      throw new RepriseError('invalid_definition', `the adapter ${name} could never execute an effect`, {
        where: 'concurrency',
        expected: 'a whole number from 1',
        actual: concurrency,
      });
    }
    const pure = app.effects.get(effect.name);
    if (pure !== undefined && pure.digest !== effect.digest) {
      throw new RepriseError(
        'invalid_definition',
        `the adapter ${name} is bound to another definition of ${effect.name} than the app`,
      );
    }
    if (effect.guarantee === 'reconcile' && doReconcile === undefined) {
      throw new RepriseError(
        'invalid_definition',
        `${effect.name} has the guarantee reconcile, but the adapter ${name} cannot reconcile`,
        {
          hint: 'Give the adapter doReconcile, or the effect another guarantee.',
        },
      );
    }
  }
}
