/** How a world is opened, and what is refused before anything is touched. */
import {
  type Address,
  type ErrorCode,
  type FaultCode,
  type PlanAddress,
  type PolicyRule,
  policyRule,
  RepriseError,
  type Value,
} from '@reprise/contracts';
import type { AnyAdapter } from '../../../ports/adapter/adapter.js';
import { SECRET_LENGTH_MIN } from '../../../ports/scrub/index.js';
import type { Store } from '../../../ports/store/store.js';
import type { Clock, RandomBytes } from '../../../ports/time/clock.js';
import { CLOCK_JUMP_LIMITS, type ClockJump, type ClockJumpLimits } from '../../../ports/time/stamper.js';
import { encode, toHex } from '../../../pure/codec/index.js';
import type { App } from '../../../pure/define/index.js';
import { type PureCode, requirePureCode } from '../../../replay/verify/index.js';
import type { EffectErrorOrigin } from '../../dispatch/reported-errors.js';
import type { Throttle } from '../../dispatch/throttle.js';
import { RESERVED_ADAPTERS } from '../write/facts.js';
import { type ExpectedHead, isExpectedHead } from './expected-head.js';

/** Where an error came from. */
export type ErrorOrigin =
  | EffectErrorOrigin
  /** A plan that ended in a fault. */
  | { readonly source: 'plan'; readonly plan: PlanAddress; readonly name: string; readonly code: FaultCode }
  /** A reducer that faulted over an event. */
  | { readonly source: 'cell'; readonly cell: Address; readonly event: string; readonly code: FaultCode }
  /** The world, which writes nothing more: its store failed, or the kernel broke an invariant of its own. */
  | { readonly source: 'world'; readonly code: ErrorCode };

/** How a world is opened. */
export interface OpenKernelWorldOptions {
  /** Where it is kept; created when absent. */
  readonly store: Store;
  /** The pure wing. */
  readonly app: App;
  /** Earlier apps, to execute what was written with them: the end of the era before, and old eras in `verify`. */
  readonly legacy?: readonly App[];
  /** Cancels plans that run and that the app does not have any more, instead of refusing to open. */
  readonly plansInFlight?: 'cancel';
  /** What executes effects. An effect whose kind has no adapter is settled as `adapter_error/no_adapter`. */
  readonly adapters?: readonly AnyAdapter[];
  /**
   * What the gate goes by, besides rights. A new world that is given none takes the app's, and allows everything where
   * that has none either; a world that exists keeps its own when none is given, and begins another era when it is given
   * another: what that forbids ends at once. A world that was made without any begins an era with the app's.
   */
  readonly policy?: readonly PolicyRule[];
  /**
   * The app's pure code, recorded in the manifest so that the world can be executed where the app is not at hand.
   * Loaded once in a sandbox before it is recorded: it has to define exactly what the app does. A world that exists
   * keeps its own when none is given, and begins another era when it is given another.
   */
  readonly code?: PureCode;
  /** `auto` (default) works by itself; `manual` starts effects and timers only inside `pump`. */
  readonly drive?: 'auto' | 'manual';
  /** Frames between snapshots; by default 1,000 to 20,000, growing with the world; 0 for none but on demand. */
  readonly snapshotEvery?: number;
  /** Execute one frame in so many a second time while running, and compare; 256 by default, 1 is every frame, 0 none. */
  readonly recheckEvery?: number;
  /** Resolves secrets by name, for adapters. */
  readonly secrets?: (name: string) => Promise<string>;
  /**
   * Texts that must not be stored, shown or thrown, besides those that are known to be secret: what `secrets` gave out,
   * and what adapters, models and tools send as keys. Each of 8 characters or more.
   */
  readonly conceal?: readonly string[];
  /**
   * Told of each error that was caught, as it was thrown, and where it came from: an adapter or a tool that failed, a
   * plan or a reducer that threw. When a secret stands in it, it is told of a copy without. Telemetry: what it throws
   * is dropped.
   */
  readonly onError?: (error: unknown, origin: ErrorOrigin) => void;
  /** Told what running effects report; telemetry, never journaled. */
  readonly onProgress?: (effect: string, note: Value) => void;
  /** Told when a cell's state grows beyond 8 KiB: every event pays for encoding it. Telemetry. */
  readonly onLargeState?: (cell: Address, bytes: number) => void;
  /** Lets effects pass one by one, where several worlds share a limit; a host gives its own. */
  readonly throttle?: Throttle;
  /**
   * How far ahead of the world's time the wall clock is still followed, in milliseconds: a week while the world runs,
   * 400 days when it is opened again. Beyond, time goes on without it until `confirmClock`.
   */
  readonly clockJump?: Partial<ClockJumpLimits>;
  /** Told when the wall clock is too far ahead to be followed, and, with undefined, when that is over. */
  readonly onClockJump?: (jump: ClockJump | undefined) => void;
  /**
   * The last head that the caller knows of this world, from an acknowledgement or `world.head`. A journal that lacks it
   * is refused as `head_mismatch`: an older copy, or a new world where there should be an old one.
   */
  readonly expectHead?: ExpectedHead;
  readonly clock?: Clock;
  readonly random?: RandomBytes;
}

/**
 * Refuses options that could not work, or that would be journaled and never read back.
 *
 * @throws RepriseError `invalid_argument`, `invalid_name`, `invalid_definition`, `duplicate_definition`, `bound_exceeded`
 */
export function requireOptions(options: OpenKernelWorldOptions): void {
  require(isObject(options), 'options', 'an object with a store and an app', options);
  const { store, app, adapters = [], policy = [], legacy = [], drive, snapshotEvery = 0, recheckEvery = 0 } = options;
  require(isObject(store) && typeof store.open === 'function', 'store', 'a store, such as memory()', store);
  require(isApp(app), 'app', 'what defineApp made', app);
  require(Array.isArray(legacy) && legacy.every(isApp), 'legacy', 'a list of what defineApp made', legacy);
  require(options.plansInFlight === undefined ||
    options.plansInFlight === 'cancel', 'plansInFlight', 'cancel', options.plansInFlight);
  require(drive === undefined || drive === 'auto' || drive === 'manual', 'drive', 'auto or manual', drive);
  require(isCount(snapshotEvery), 'snapshotEvery', 'a whole number of frames', snapshotEvery);
  require(isCount(recheckEvery), 'recheckEvery', 'a whole number of frames', recheckEvery);
  requirePolicy(policy, 'policy');
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

function requirePolicy(policy: readonly PolicyRule[], where: string): void {
  require(Array.isArray(policy), where, 'a list of rules', policy);
  for (const [i, rule] of policy.entries()) {
    require(policyRule.safeParse(rule).success, `${where}[${i}]`, '{effect, decision: allow | deny}', rule);
    encode(rule); // refuses text that is not well-formed
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

/** Draws random bytes as hex; a source that gives anything else would make a world that cannot be read back. */
export function drawHex(random: RandomBytes, length: number): string {
  const bytes: unknown = random(length);
  require(bytes instanceof Uint8Array && bytes.length === length, 'random', `${length} bytes`, bytes);
  return toHex(bytes as Uint8Array);
}

function require(holds: boolean, where: string, expected: string, actual: unknown): void {
  if (holds) return;
  throw new RepriseError('invalid_argument', 'a world cannot be opened like this', { where, expected, actual });
}

function isApp(thing: unknown): boolean {
  return isObject(thing) && [thing.reducers, thing.plans, thing.effects].every((part) => part instanceof Map);
}

function isObject(thing: unknown): thing is Record<string, unknown> {
  return typeof thing === 'object' && thing !== null;
}

function isCount(thing: unknown): boolean {
  return Number.isSafeInteger(thing) && (thing as number) >= 0;
}

/** Adapters that are wrongly put together would be found only when an effect is due. */
function requireAdapters({ adapters = [], app }: OpenKernelWorldOptions): void {
  const seen = new Set<string>();
  for (const { effect, name, concurrency = 1, doReconcile } of adapters) {
    if (seen.has(effect.name)) {
      throw new RepriseError('duplicate_definition', `two adapters for ${effect.name}`, {
        hint: 'Register one adapter for each kind.',
      });
    }
    seen.add(effect.name);
    if (typeof name !== 'string' || name === '' || name.length > 128 || RESERVED_ADAPTERS.includes(name)) {
      throw new RepriseError('invalid_name', 'this is not a name for an adapter', {
        expected: `text of 1 to 128 characters, not ${RESERVED_ADAPTERS.join(' or ')}`,
        actual: name,
      });
    }
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) {
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
        `${effect.name} is delivered by reconcile and ${name} cannot reconcile`,
        {
          hint: 'Give the adapter doReconcile, or the effect another guarantee.',
        },
      );
    }
  }
}
