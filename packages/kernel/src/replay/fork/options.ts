/** The options of forking a world, and the checks that run before anything is touched. */
import {
  type Amounts,
  type ArgumentCheck,
  amounts,
  type Capability,
  capability,
  checkOf,
  isFields,
  isFunction,
  isObject,
  isWhole,
  present,
  receipt,
} from '@reprise/contracts';
import type { Store } from '../../ports/store/store.js';
import type { RandomBytes } from '../../ports/time/clock.js';
import { amountsFit, capabilityFits } from '../../pure/authority/index.js';
import type { App } from '../../pure/define/index.js';
import { INSTEAD, type OtherOutcome } from './instead.js';

/** Options of forking a world. */
export interface ForkOptions {
  /** The target store: empty, or with an unfinished fork of the same world. */
  readonly into: Store;
  /** The last frame that the fork shares with the original; the newest when absent. */
  readonly at?: number;
  /** `dry` (default): no effect is executed; recorded receipts are used again. `live`: see `grants`. */
  readonly mode?: 'dry' | 'live';
  /** For a live fork: the capability of the root of all authority. None when absent. */
  readonly grants?: Capability;
  /** For a live fork: limits by account; what is spent stays spent. Accounts that are not named may spend nothing. */
  readonly budgets?: Readonly<Record<string, Amounts>>;
  /**
   * For a dry fork: outcomes that effects get in place of those that the original recorded for them after the cut, by the ids
   * of the effects in the original. What follows from them is what would have happened.
   */
  readonly instead?: Readonly<Record<string, OtherOutcome>>;
  readonly random?: RandomBytes;
}

/** {@link ForkOptions}, and the apps that replay the journal. */
export interface ForkStoreOptions extends ForkOptions {
  readonly app: App;
  /** Earlier apps, for eras that the app itself cannot replay. */
  readonly legacy?: readonly App[];
}

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of forkWorld');

/** Refuses options that could not work. */
export function requireForkOptions(options: ForkOptions): void {
  require(isObject(options), 'options', 'an object with a store to fork into', options);
  const { into, at, mode, grants, budgets, instead, random } = options;
  require(isObject(into) && isFunction(into.open), 'into', 'a store, such as memory()', into);
  require(at === undefined || isWhole(at), 'at', 'the number of a frame', at);
  require(mode === undefined || mode === 'dry' || mode === 'live', 'mode', 'dry or live', mode);
  require(random === undefined || isFunction(random), 'random', 'a function', random);
  const live = mode === 'live' || (grants === undefined && budgets === undefined);
  require(live, 'mode', 'live, when grants or budgets are given', mode);
  if (grants !== undefined) {
    const fits = capability.safeParse(grants).success && capabilityFits(grants);
    require(fits, 'grants', 'a capability: {may: {dimension: patterns}}', grants);
  }
  requireOutcomes(instead, mode);
  for (const [name, limits] of Object.entries(budgets ?? {})) {
    const fits = amounts.safeParse(limits).success && amountsFit(limits);
    require(fits, `budgets.${name}`, 'whole amounts by unit', limits);
  }
}

function requireOutcomes(instead: ForkOptions['instead'], mode: ForkOptions['mode']): void {
  if (instead === undefined) return;
  require(isFields(instead), 'instead', 'outcomes by the ids of effects', instead);
  require(mode !== 'live' || Object.keys(instead).length === 0, 'mode', 'dry, when other outcomes are given', mode);
  for (const [effect, outcome] of Object.entries(instead)) {
    const fits =
      isFields(outcome) &&
      receipt.safeParse({ adapter: INSTEAD, attempts: 0, ...present({ ...outcome, contents: undefined }) }).success;
    require(fits, `instead.${effect}`, 'an outcome: {status: "ok", payload} or {status, code}', outcome);
    const { contents = [] } = outcome;
    require(Array.isArray(contents) &&
      contents.every(isBytes), `instead.${effect}.contents`, 'a list of bytes', contents);
  }
}

function isBytes(thing: unknown): boolean {
  return thing instanceof Uint8Array;
}
