/** What in a world needs attention: cells that have failed, from their leaves, whatever the age of the journal; its store. */
import { type Address, type ErrorDetail, type FaultCode, formatAddress, RepriseError } from '@reprise/contracts';
import { detailsOfFailure, type FailedLeaf, failedKey, type LeafChange, type LeafKey } from '../pure/engine/index.js';
import type { LeafTable } from './leaf-table.js';

/** A cell that has failed: it takes no events until it is revived. */
export interface CellTrouble {
  readonly kind: 'cell_failed';
  /** The address of the cell. */
  readonly where: Address;
  /** The code of the fault on which it failed. */
  readonly code: FaultCode;
  /** When it failed, in journal milliseconds. */
  readonly since: number;
  /** The frame of the fault. */
  readonly frame: number;
  /** The event that it failed on. */
  readonly event: string;
  /** How many answers others waited for when it failed: questions of cells, and effects that it was to settle. Each was told. */
  readonly waiting: number;
}

/**
 * A store that is full: receipts, timers and plans wait for room, and requests are refused. Or one that is slow: what
 * was to be stored waits for it, and so does every reader of the outcome.
 */
export interface StoreTrouble {
  readonly kind: 'store_full' | 'store_slow';
  /** The label of the store: a path, or `memory`. */
  readonly where: string;
  readonly code: 'store_full' | 'store_slow';
  /** The first commit that failed, or when the oldest one that lasts began, in journal milliseconds. */
  readonly since: number;
  /** The number of inputs and contents that wait for the store. */
  readonly waiting: number;
}

/** A service outside that fails, as its adapter says: the server of a model, a server of tools. */
export interface ServiceTrouble {
  readonly kind: 'service_failing';
  /** The name of the service, for example a host. */
  readonly where: string;
  /** The code of its failures, such as `rate_limited`. */
  readonly code: string;
  /** The first failure since it worked, in journal milliseconds. */
  readonly since: number;
  /** The number of open effects whose adapters go on trying. */
  readonly waiting: number;
  /** The cells of these effects. */
  readonly cells: readonly Address[];
  /** The latest error, without secrets. */
  readonly error?: ErrorDetail;
}

/** A wall clock that is too far ahead to be followed: time goes on without it. See `World.clockJump`. */
interface ClockTrouble {
  readonly kind: 'clock_jump';
  readonly where: 'clock';
  readonly code: 'clock_mismatch';
  /** When it was first seen, in journal milliseconds. */
  readonly since: number;
  readonly waiting: 0;
}

/** A world that an error closed: nothing more is written until it is opened again. */
export interface EndTrouble {
  readonly kind: 'world_ended';
  /** The label of the store: a path, or `memory`. */
  readonly where: string;
  /** The code of the error, such as `store_failed`. */
  readonly code: string;
  /** When it was closed, in journal milliseconds. */
  readonly since: number;
  readonly waiting: 0;
  /** The error that closed the world, without secrets. */
  readonly error: ErrorDetail;
}

/** What needs attention and stands in no journal: only the process that has the world open sees it. */
export type HostTrouble = StoreTrouble | ServiceTrouble | ClockTrouble | EndTrouble;

/** What needs attention, by `kind`; switch on it, since later versions add kinds. */
export type Trouble = CellTrouble | HostTrouble;

/** Receives each trouble when it is durable. */
export type TroubleListener = (trouble: Trouble) => void;

/** All failed cells of a world, the oldest first. */
export function failedCellsIn(table: LeafTable): readonly CellTrouble[] {
  const found = [...table.list('failed')].map(({ key, leaf }) => troubleOf(key, leaf));
  return found.sort((a, b) => a.frame - b.frame || (formatAddress(a.where) < formatAddress(b.where) ? -1 : 1));
}

/** The first of these cells that has failed. */
export function failureAmong(table: LeafTable, cells: readonly Address[]): CellTrouble | undefined {
  for (const cell of cells) {
    const key = failedKey(cell);
    const leaf = table.get(key);
    if (leaf !== undefined) return troubleOf(key, leaf);
  }
  return undefined;
}

/** The troubles that a frame began. */
export function newTroubles(changes: readonly LeafChange[]): readonly CellTrouble[] {
  return changes.flatMap(({ key, after }) =>
    key.path[0] === 'failed' && after !== undefined ? [troubleOf(key, after as FailedLeaf)] : [],
  );
}

/** The error of a wait for a cell that has failed. */
export function cellFailed({ where, code, frame, event }: CellTrouble): RepriseError {
  return new RepriseError(
    'cell_failed',
    `cell ${formatAddress(where)} has failed, so nothing more comes from it`,
    detailsOfFailure(where, { code, seq: frame, event }),
  );
}

/** A clock jump as a trouble. */
export function clockTrouble({ since }: Pick<ClockTrouble, 'since'>): ClockTrouble {
  return { kind: 'clock_jump', where: 'clock', code: 'clock_mismatch', since, waiting: 0 };
}

/**
 * The error that reports a clock jump.
 *
 * @param jump the wall clock, and the journal's time, in milliseconds
 */
export function clockJumped({ wall, at }: { readonly wall: number; readonly at: number }): RepriseError {
  return new RepriseError('clock_mismatch', 'the wall clock is too far ahead, and the world does not follow it', {
    where: 'clock',
    expected: `about ${dateText(at)}`,
    actual: dateText(wall),
    hint: 'Correct the clock, or confirm it with `world.confirmClock`. Until then deadlines pass by elapsed time.',
  });
}

function dateText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? `${ms} ms` : date.toISOString();
}

function troubleOf({ path }: LeafKey, { code, at, seq, event, waiting }: FailedLeaf): CellTrouble {
  const where: Address = [String(path[1]), String(path[2])];
  return { kind: 'cell_failed', where, code, since: at, frame: seq, event, waiting };
}
