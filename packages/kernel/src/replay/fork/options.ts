/** How a world is forked, and what is refused before anything is touched. */
import { type Amounts, amounts, type Capability, capability, RepriseError } from '@reprise/contracts';
import type { Store } from '../../ports/store/store.js';
import type { RandomBytes } from '../../ports/time/clock.js';
import { amountsFit, capabilityFits } from '../../pure/authority/index.js';
import type { App } from '../../pure/define/index.js';

/** How a world is forked. */
export interface ForkOptions {
  /** The store that the fork is made in: empty, or with a fork of the same world that was not made to its end. */
  readonly into: Store;
  /** The last frame that the fork shares with the original; the last there is when absent. */
  readonly at?: number;
  /** `dry` (default): nothing outside is done, what the original got is given again. `live`: see `grants`. */
  readonly mode?: 'dry' | 'live';
  /** Of a live fork: what the root of all authority may. Nothing when absent. */
  readonly grants?: Capability;
  /** Of a live fork: limits by account; what is spent stays spent. Accounts that are not named may spend nothing. */
  readonly budgets?: Readonly<Record<string, Amounts>>;
  readonly random?: RandomBytes;
}

/** {@link ForkOptions}, and who replays the journal. */
export interface ForkStoreOptions extends ForkOptions {
  readonly app: App;
  /** Earlier apps, for eras that the app itself cannot replay. */
  readonly legacy?: readonly App[];
}

/** Refuses options that could not work. */
export function requireForkOptions(options: ForkOptions): void {
  require(isObject(options), 'options', 'an object with a store to fork into', options);
  const { into, at, mode, grants, budgets, random } = options;
  require(isObject(into) && typeof into.open === 'function', 'into', 'a store, such as memory()', into);
  require(at === undefined || (Number.isSafeInteger(at) && at >= 0), 'at', 'the number of a frame', at);
  require(mode === undefined || mode === 'dry' || mode === 'live', 'mode', 'dry or live', mode);
  require(random === undefined || typeof random === 'function', 'random', 'a function', random);
  const live = mode === 'live' || (grants === undefined && budgets === undefined);
  require(live, 'mode', 'live, when grants or budgets are given', mode);
  if (grants !== undefined) {
    const fits = capability.safeParse(grants).success && capabilityFits(grants);
    require(fits, 'grants', 'a capability: {may: {dimension: patterns}}', grants);
  }
  for (const [name, limits] of Object.entries(budgets ?? {})) {
    const fits = amounts.safeParse(limits).success && amountsFit(limits);
    require(fits, `budgets.${name}`, 'whole amounts by unit', limits);
  }
}

function isObject(thing: unknown): thing is Record<string, unknown> {
  return typeof thing === 'object' && thing !== null;
}

function require(holds: boolean, where: string, expected: string, actual: unknown): void {
  if (holds) return;
  throw new RepriseError('invalid_argument', 'a world cannot be forked like this', { where, expected, actual });
}
