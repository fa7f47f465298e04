/**
 * Makes cells that have fewer rights than their maker.
 *
 * A cell that is made has the rights of its maker, and rights cannot be set in the delivery that makes it. So the maker
 * makes it by an event that lets it do nothing yet, waits for the reply, sets the rights, and only when they stand sends
 * the event by which it begins. A refusal anywhere on the way leaves a cell that has not begun.
 */
import {
  type Address,
  address,
  formatAddress,
  isFields,
  NOTICES,
  requireArgument,
  requireFields,
  requireMethods,
  setRightsCommand,
  value,
  wireName,
} from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { by, type EventOf, from, type ReducerContext, type Table } from '@reprise/kernel/define';

const { exercise, grant, account } = setRightsCommand.shape;

/** An event as it is kept until its cell has its rights. */
const sent = z.strictObject({ name: wireName, value: value() });

/** The rights of a cell that is made. */
export const rightsOf = z.strictObject({ exercise, grant, account });

/** A cell on the way to its rights: an entry of the table `making`, by {@link makingKey}. */
export const makingCell = z.strictObject({
  to: address,
  rights: rightsOf,
  first: z.exactOptional(sent),
  tag: z.string().min(1).max(256),
});

/** A cell on the way to its rights. */
export type MakingCell = z.infer<typeof makingCell>;

/** The tables that a maker declares. */
export const makingTables = { making: makingCell };

/** The events that a maker declares, and passes to {@link makingNews}. */
export const makingEvents = {
  'sys/Reply@1': NOTICES['sys/Reply@1'],
  'sys/CommandRefused@1': NOTICES['sys/CommandRefused@1'],
  'work/RightsStand@1': from(z.strictObject({ to: address }), by.self),
};

/** A cell to be made. */
export interface CellToMake {
  readonly to: Address;
  /** The event that makes it. It must not let the cell act. */
  readonly making: { readonly name: string; readonly value: unknown };
  /** What it may do and grant, and the account that pays for it; each as `sys/SetRights@1` takes it. */
  readonly rights: z.infer<typeof rightsOf>;
  /**
   * The event by which it begins, sent once the rights stand. Without one the maker itself sends it when it receives
   * `made`: a maker that looks at its own state again. Its refusal comes back as `sys/Reply@1` with the tag.
   */
  readonly first?: { readonly name: string; readonly value: unknown };
  /** Says in {@link MadeNews} which cell is meant. */
  readonly tag: string;
}

/** The outcome for one cell. */
export type MadeNews =
  | { readonly made: true; readonly to: Address; readonly tag: string }
  | { readonly made: false; readonly to: Address; readonly tag: string; readonly code: string };

/**
 * Begins to make a cell with rights of its own.
 *
 * @example makeWithRights(ctx, { to, making: adopted, rights: { exercise: { may: { tool: [] } } }, first: input, tag: 'worker' })
 */
export function makeWithRights(ctx: ReducerContext, cell: CellToMake): void {
  requireMethods(ctx, ['send', 'emit'], 'makeWithRights(ctx)', 'the ctx of a reducer');
  requireArgument(
    isFields(cell) && Array.isArray(cell.to),
    'makeWithRights(cell)',
    '{ to, making, rights, tag }',
    cell,
  );
  const { to, making, rights, first, tag } = cell;
  const at = makingKey(ctx, to);
  const kept = first === undefined ? {} : { first: first as MakingCell['first'] };
  tableOf(ctx).set(at, { to, rights, ...kept, tag } as MakingCell);
  ctx.send(to, making, { reply: true, tag: `${MAKING}${at}` });
}

/**
 * Takes an event of {@link makingEvents}: a maker calls it for each of them.
 *
 * @returns the outcome when there is one; `other` for an event that has nothing to do with making
 */
export function makingNews(
  ctx: ReducerContext,
  event: { readonly name: string; readonly value: unknown },
): MadeNews | 'other' | undefined {
  requireMethods(ctx, ['send', 'emit'], 'makingNews(ctx)', 'the ctx of a reducer');
  requireFields(event, 'makingNews(event)', 'the event of the reducer');
  const { name, value } = event as EventOf<typeof makingEvents>;
  if (name === 'work/RightsStand@1') return begin(ctx, value.to);
  const cell = name === 'sys/Reply@1' || name === 'sys/CommandRefused@1' ? cellOf(ctx, value.tag) : undefined;
  if (cell === undefined) return 'other';
  const isMade = name === 'sys/Reply@1' && value.outcome === 'accepted';
  return isMade ? setRights(ctx, cell) : given(ctx, cell, value.code ?? '');
}

/** Begins the tags of what is sent on the way. */
const MAKING = 'making:';

/** The refusal of the command arrives before the event behind it: then the entry is gone, and the cell never begins. */
function setRights(ctx: ReducerContext, { to, rights }: MakingCell): undefined {
  const tag = `${MAKING}${makingKey(ctx, to)}`;
  ctx.command('sys/SetRights@1', { holder: `cell:${formatAddress(to)}`, ...rights }, { tag });
  ctx.send(ctx.address, { name: 'work/RightsStand@1', value: { to } });
  return undefined;
}

function begin(ctx: ReducerContext, to: Address): MadeNews | undefined {
  const cell = tableOf(ctx).get(makingKey(ctx, to));
  if (cell === undefined) return undefined;
  dropMade(ctx, to);
  if (cell.first !== undefined) ctx.send(to, cell.first, { reply: 'refusal', tag: cell.tag });
  return { made: true, to, tag: cell.tag };
}

function given(ctx: ReducerContext, { to, tag }: MakingCell, code: string): MadeNews {
  dropMade(ctx, to);
  return { made: false, to, tag, code };
}

/** Forgets a cell on the way to its rights: it never begins. */
export function dropMade(ctx: ReducerContext, to: Address): void {
  tableOf(ctx).delete(makingKey(ctx, to));
}

/** The key of a cell on its way: a digest, since an address may be longer than a key. */
function makingKey(ctx: ReducerContext, to: Address): string {
  return ctx.hash([...to]).slice(0, 40);
}

function cellOf(ctx: ReducerContext, tag: string | undefined): MakingCell | undefined {
  return tag?.startsWith(MAKING) ? tableOf(ctx).get(tag.slice(MAKING.length)) : undefined;
}

function tableOf(ctx: ReducerContext): Table<MakingCell> {
  return ctx.table<MakingCell>('making');
}
