/** The keys of the state map. Everything a world remembers is a leaf under one of these. */
import { type Account, type Address, isKeyText, type PlanAddress, type Value, WIRE_NAME } from '@reprise/contracts';
import type {
  AskedLeaf,
  CellLeaf,
  EffectLeaf,
  FailedLeaf,
  LogLeaf,
  PendingChunk,
  PendingLeaf,
  PlanLeaf,
  RightsLeaf,
  SettledLeaf,
  TimerLeaf,
  WorldLeaf,
} from './leaves.js';
import type { TableNode } from './table-node.js';

export type LeafKind =
  | 'account'
  | 'asked'
  | 'cell'
  | 'effect'
  | 'failed'
  | 'log'
  | 'pending'
  | 'plan'
  | 'rights'
  | 'settled'
  | 'table'
  | 'timer'
  | 'world';

/** A part of a leaf's path. */
export type PathPart = string | number;

/**
 * A leaf's key: its path, and the path as one string for maps. Only the last part of a path is free text, so
 * joining with NUL is unambiguous.
 *
 * @typeParam L the leaf under it; exists in types alone
 */
export interface LeafKey<L = unknown> {
  readonly id: string;
  readonly path: readonly [LeafKind, ...PathPart[]];
  readonly holds?: L;
}

/** The key with this path; paths come from the constructors below or from a snapshot. */
export function leafKey<L = unknown>(path: readonly [LeafKind, ...PathPart[]]): LeafKey<L> {
  return { id: idOf(path), path };
}

/** `path.join('\0')`, without the list for the lengths that there are. */
function idOf(path: readonly PathPart[]): string {
  const [a, b, c, d] = path;
  switch (path.length) {
    case 2:
      return `${a}\0${b}`;
    case 3:
      return `${a}\0${b}\0${c}`;
    case 4:
      return `${a}\0${b}\0${c}\0${d}`;
    default:
      return path.join('\0');
  }
}

/** Whether a key can be a cell's or an entry's: well-formed text of 1 to 256 bytes. */
export function isCellKey(key: unknown): key is string {
  return typeof key === 'string' && isKeyText(key);
}

/**
 * Whether an author's value is an address. Checked before it becomes part of a record or a leaf's key:
 * an invalid address can be neither written nor read back, and a fact that depends on it could never be folded.
 */
export function isAddress(thing: unknown): thing is Address {
  if (!Array.isArray(thing) || thing.length !== 2) return false;
  const [reducer, key] = thing as readonly unknown[];
  return typeof reducer === 'string' && reducer.length <= 128 && WIRE_NAME.test(reducer) && isCellKey(key);
}

/** A cell's state and bookkeeping. */
export const cellKey = (cell: Address): LeafKey<CellLeaf> => leafKey(['cell', cell[0], cell[1]]);

export const planKey = (plan: PlanAddress): LeafKey<PlanLeaf> => leafKey(['plan', plan[0], plan[2], plan[1]]);

export const effectKey = (effect: string): LeafKey<EffectLeaf> => leafKey(['effect', effect]);

/** The remains of a settled effect that had waited for input from outside. */
export const settledKey = (effect: string): LeafKey<SettledLeaf> => leafKey(['settled', effect]);

/** The fault of a failed cell. */
export const failedKey = (cell: Address): LeafKey<FailedLeaf> => leafKey(['failed', cell[0], cell[1]]);

/** An event whose sender hears of the failure of its receiver, until it forgets it. */
export const askedKey = (from: Address, tag: string): LeafKey<AskedLeaf> =>
  leafKey(['asked', from[0], JSON.stringify([from[1], tag])]);

/** The rights of a holder on both sides. */
export const rightsKey = (holder: string): LeafKey<RightsLeaf> => leafKey(['rights', holder]);

/** The spent and reserved amounts of an account. */
export const accountKey = (account: string): LeafKey<Account> => leafKey(['account', account]);

/** A log's counts, roots and inline tail: a sibling of its cell, so that appending does not touch the state. */
export const logKey = (cell: Address, log: string): LeafKey<LogLeaf> => leafKey(['log', cell[0], log, cell[1]]);

/**
 * A node of a table. The generation is part of it: a table whose cell has ended is removed in steps,
 * and must not be mistaken for the table of the next cell at this address.
 */
export const tableKey = (cell: Address, table: string, inc: number, node: number): LeafKey<TableNode> =>
  leafKey(['table', cell[0], table, inc, node, cell[1]]);

/** A timer, by due time first. `plan` is −1 for a cell's own timer. */
export const timerKey = (due: number, cell: Address, plan: number, name: string): LeafKey<TimerLeaf> =>
  leafKey(['timer', due, cell[0], plan, name, cell[1]]);

/** The leaf of the world itself: identity, policy, root of authority, origin of a fork. */
export const WORLD_KEY: LeafKey<WorldLeaf> = leafKey(['world']);

/** The work left between a frame and its `continue` frame. */
export const PENDING_KEY: LeafKey<PendingLeaf> = leafKey(['pending']);

/** The deliveries that wait: those of the cascade under way, and those that each begin one. */
export type BacklogName = 'cascade' | 'roots';

/** A chunk of deliveries that wait for a `continue` frame. */
export const pendingKey = (backlog: BacklogName, chunk: number): LeafKey<PendingChunk> =>
  leafKey(['pending', backlog, chunk]);

/** Where a leaf's path has the reducer and the cell's key. */
const CELL_PLACES: Readonly<Record<string, readonly [number, number]>> = {
  cell: [1, 2],
  plan: [1, 3],
  log: [1, 3],
  table: [1, 5],
  timer: [2, 5],
};

/** The cell that a leaf is of, from its path in a state record; undefined for effects and for the world's own leaves. */
export function cellOfLeaf(path: readonly Value[]): Address | undefined {
  const places = CELL_PLACES[String(path[0])];
  return places && [String(path[places[0]]), String(path[places[1]])];
}
