/** Commands to the cells of organizations, and how their outcomes are heard. */
import { partRequestId, requireSound } from '@reprise/agent';
import {
  type Actor,
  type Address,
  aPrincipal,
  formatAddress,
  isFields,
  isRepriseError,
  type JournalRecord,
  type KnownOptions,
  type Principal,
  present,
  REQUEST_ID_MAX,
  RepriseError,
  requireArgument,
  requireFields,
  requireKnownOptions,
  textOf,
  type Value,
} from '@reprise/contracts';
import type { Ack, World } from '@reprise/kernel';
import type { NoTables, TableSchemas } from '@reprise/kernel/define';
import { recordsOf } from '@reprise/kernel/world';
import { CellReader, type FactRecord, isFactOf } from './reader.js';

/** Who asks, and under which id: a repetition with one id is one act. */
export interface By {
  readonly id?: string;
  readonly as?: Principal;
  /** Who acts, where that does not follow from `as`. */
  readonly actor?: Actor;
}

const BY: KnownOptions<Pick<By, 'id' | 'as'>> = { id: textOf(REQUEST_ID_MAX), as: aPrincipal };

/**
 * Refuses what does not say who asks.
 *
 * @param where the argument, such as `tree options`
 * @throws RepriseError `invalid_argument`
 */
function requireBy(by: unknown, where: string): asserts by is By {
  requireFields(by, where, 'an object with any of id, as, actor');
  const { id, as } = by as By;
  requireKnownOptions(present({ id, as }), BY, where);
}

/**
 * A cell of an organization, as an app asks and reads it.
 *
 * @typeParam S the state of its reducer
 * @typeParam T the tables that its reducer declares
 */
export class OrgCell<S = unknown, T extends TableSchemas = NoTables> extends CellReader<S, T> {
  /** @param ids the part that its ids of requests name, and whether an id names one act of the cell, or one of each event */
  constructor(
    readonly world: World,
    address: Address,
    readonly ids: { readonly part: string; readonly of: 'cell' | 'event' },
  ) {
    super(world, address);
  }

  /** @throws RepriseError `cell_failed` when the cell has failed: its state is the one before the fault then */
  requireSound(): Promise<void> {
    return requireSound(this.world, this.address);
  }
}

/** What is asked of a cell, to be sent or to be heard of. */
type AskedCell = Pick<OrgCell, 'world' | 'address' | 'ids'>;

/** How the outcome of a command is heard, where it is more than that the cell has taken it. */
export interface CommandOutcome<R> {
  /** Looks for the outcome in a fact, from the frame of the command on; undefined when the fact says nothing of it. */
  readonly in: (fact: FactRecord) => R | undefined | Promise<R | undefined>;
  /** Other cells whose facts count as well. */
  readonly cells?: readonly Address[];
}

/**
 * Sends an event to a cell, once for each id.
 *
 * @param outcome how the outcome is heard; without it, the acknowledgement is the outcome
 * @throws RepriseError `request_rejected` with the cell's refusal as its reason, and the refusals of the kernel; `cell_failed`
 *   and what closed the world, while the outcome is awaited
 */
export async function command(cell: AskedCell, name: string, value: object, by?: By): Promise<Ack>;
export async function command<R>(
  cell: AskedCell,
  name: string,
  value: object,
  by: By | undefined,
  outcome: CommandOutcome<R>,
): Promise<R>;
export async function command<R>(
  cell: AskedCell,
  name: string,
  value: object,
  by: By = {},
  outcome?: CommandOutcome<R>,
): Promise<Ack | R> {
  requireArgument(isFields(cell) && isFields(cell.ids), 'command(cell)', 'an OrgCell', cell);
  const { world, address, ids } = cell;
  requireBy(by, `${ids.part} options`);
  const { id, as, actor } = by;
  const own = ids.of === 'event' && id !== undefined ? `${name}/${id}` : id;
  const whole = own === undefined ? undefined : partRequestId(ids.part, address[1], own);
  const asked = world.request(address, { name, value: value as Value }, present({ id: whole, as, actor }));
  const ack = await asked.catch((error: unknown) => {
    throw atArgument(error);
  });
  return outcome === undefined ? ack : outcomeOf(cell, ack, outcome);
}

/**
 * The outcome of a command that was sent.
 *
 * @throws RepriseError `cell_failed` when a cell that is heard has failed; what closed the world, when it closes before
 */
export async function outcomeOf<R>(
  { world, address }: AskedCell,
  ack: Pick<Ack, 'seq'>,
  { in: find, cells = [] }: CommandOutcome<R>,
): Promise<R> {
  const heard = [address, ...cells];
  const look = async (records: readonly JournalRecord[]): Promise<R | undefined> => {
    for (const record of records) {
      if (record.kind !== 'fact' || !heard.some((cell) => isFactOf(record, cell))) continue;
      const found = await find(record);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const at = await look(recordsOf(ack as Ack) ?? []); // often in the frame of the command, which is in memory
  if (at !== undefined) return at;
  for await (const { records } of world.frames(ack.seq, undefined, heard)) {
    const found = await look(records);
    if (found !== undefined) return found;
  }
  throw closedWorld(world, address);
}

/** The records of the frame of a command: from memory when that frame was just written. */
export async function recordsAt({ world }: AskedCell, ack: Ack): Promise<readonly JournalRecord[]> {
  const own = recordsOf(ack);
  if (own !== undefined) return own;
  for await (const { records } of world.frames(ack.seq)) return records;
  return [];
}

/** The code with which a cell has refused a command; undefined for any other error. */
export function refusalIn(error: unknown): string | undefined {
  return isRepriseError(error, 'request_rejected') ? String(error.details.reason) : undefined;
}

/** Why nothing more is heard of a cell: what closed the world. */
export function closedWorld({ closedBy }: World, cell: Address): RepriseError {
  const where = formatAddress(cell);
  return closedBy ?? new RepriseError('world_closed', 'the world was closed before the cell answered', { where });
}

/** The place of an invalid value as the caller knows it: fields of events have the names of arguments. */
function atArgument(error: unknown): unknown {
  if (!isRepriseError(error)) return error;
  const { where } = error.details;
  if (typeof where !== 'string' || !where.startsWith('$.')) return error;
  return new RepriseError(error.code, error.what, { ...error.details, where: where.slice(2) });
}
