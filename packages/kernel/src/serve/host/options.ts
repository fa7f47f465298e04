/** The options of opening a host, and the checks that run before anything is touched. */
import { type ArgumentCheck, checkOf, fieldsOf, isFunction, isObject, isWhole, RepriseError } from '@reprise/contracts';
import type { Head } from '../../ports/journal/port.js';
import type { Store } from '../../ports/store/store.js';
import type { Clock } from '../../ports/time/clock.js';
import { isPattern } from '../../pure/authority/index.js';
import { isCellKey } from '../../pure/engine/index.js';
import type { Throttle } from '../../run/dispatch/throttle.js';
import type { World } from '../../run/world/world.js';
import type { HostDirectory } from './directory.js';
import type { HostWitness } from './seen-heads.js';
import type { SharedLimit } from './shared-limits.js';

/** A world as a host sees it: the kernel's own, or one built on it. */
export type HostedWorld = AsyncDisposable & (World | { readonly kernel: World });

/** The options that a host adds for each world that it opens: spread them into the options of `openWorld`. */
export interface WorldBase {
  readonly store: Store;
  readonly clock: Clock;
  readonly throttle: Throttle;
  /**
   * The last durable frame that this host, or its witness, has seen of the world. A store that has lost it, such as a database that fell
   * back to an older state, is then refused with `head_mismatch`, and nothing is executed again.
   */
  readonly expectHead?: Head;
}

/** An error that reached no caller. */
export interface HostFailure {
  /** The world, or undefined when the directory itself failed. */
  readonly world: string | undefined;
  readonly error: unknown;
  /** When it is tried again, in milliseconds since 1970; null when nothing is due and there is no further try. */
  readonly retryAt: number | null;
}

/** Options of opening a host. */
export interface HostOptions<W extends HostedWorld> {
  /** Where the host remembers when its worlds want to wake. */
  readonly directory: HostDirectory;
  /** Maps an id to the store of a world. Ids come from your users: this function refuses invalid ones by throwing. */
  readonly store: (world: string) => Store;
  /** Opens a world, with the automatic drive; spread `base` into the options of `openWorld`. */
  readonly open: (world: string, base: WorldBase) => Promise<W>;
  /** How many worlds may be open at once; 200 when absent. */
  readonly maxOpen?: number;
  /** How long an unused world stays open, in milliseconds; five minutes when absent. */
  readonly idleMs?: number;
  /** How long a user waits for room, in milliseconds; half a minute when absent. */
  readonly waitMs?: number;
  /** Limits that all worlds share, such as a provider's. The first one whose pattern matches applies. */
  readonly limits?: readonly SharedLimit[];
  /** Keeps the heads of worlds beyond the life of this host; without one the host knows what it has seen itself. */
  readonly witness?: HostWitness;
  readonly clock?: Clock;
  /** Called for errors while no caller waited: a world that cannot wake, or that broke down. */
  readonly onError?: (failure: HostFailure) => void;
}

/** The interface of a kernel world that a host uses. */
export function kernelOf(world: HostedWorld): World {
  return 'kernel' in world ? world.kernel : world;
}

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid option of openHost');

/** Refuses options that could not work. */
export function requireHostOptions(options: unknown): void {
  const {
    directory,
    store,
    open,
    maxOpen = 1,
    idleMs = 0,
    waitMs = 0,
    limits = [],
    witness,
    clock,
    onError,
  } = fieldsOf(options);
  require(isObject(directory) && isFunction(directory.open), 'directory', 'such as memoryDirectory()', directory);
  require(isFunction(store), 'store', 'a function from ids to stores', store);
  require(isFunction(open), 'open', 'a function that opens a world', open);
  require(isWhole(maxOpen, 1), 'maxOpen', 'a whole number from 1', maxOpen);
  require(isTime(idleMs), 'idleMs', 'milliseconds, 0 or more', idleMs);
  require(isTime(waitMs), 'waitMs', 'milliseconds, 0 or more', waitMs);
  require(Array.isArray(limits), 'limits', 'a list of limits', limits);
  for (const [i, limit] of (limits as unknown[]).entries()) requireLimit(limit, `limits[${i}]`);
  const asked = isObject(witness) ? [witness.head, witness.saw] : [];
  const isWitness = witness === undefined || (asked.length > 0 && asked.every(isFunction));
  require(isWitness, 'witness', 'an object with head() and saw()', witness);
  const parts = isObject(clock) ? [clock.wall, clock.monotonic, clock.sleep] : [];
  require(clock === undefined || (parts.length > 0 && parts.every(isFunction)), 'clock', 'a clock', clock);
  require(onError === undefined || isFunction(onError), 'onError', 'a function', onError);
}

/** Refuses an invalid world id. */
export function requireWorldId(world: unknown): asserts world is string {
  if (isCellKey(world)) return;
  throw new RepriseError('invalid_argument', 'invalid world id', {
    where: 'world',
    expected: 'well-formed text of 1 to 256 bytes',
    actual: world,
  });
}

function requireLimit(limit: unknown, where: string): void {
  const { effect, concurrent, per } = fieldsOf(limit);
  require(typeof effect === 'string' && isPattern(effect), `${where}.effect`, 'a kind, prefix* or *', effect);
  require(concurrent === undefined ||
    isWhole(concurrent, 1), `${where}.concurrent`, 'a whole number from 1', concurrent);
  const span = per === undefined || (isObject(per) && isWhole(per.max, 1) && isWhole(per.ms, 1));
  require(span, `${where}.per`, '{ms, max}, whole numbers from 1', per);
  require(concurrent !== undefined || per !== undefined, where, 'concurrent, per, or both', limit);
}

function isTime(thing: unknown): boolean {
  return typeof thing === 'number' && thing >= 0;
}
