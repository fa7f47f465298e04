/** The failed cells of a tree or a project, with what to do about them. */
import { type Address, formatAddress, isRepriseError } from '@reprise/contracts';
import { type ReadonlyStore, worldAt } from '@reprise/kernel';
import { chooseApp } from './app.js';
import { asData, lineOf } from './verbs/trouble.js';

/** A failed cell in two forms. */
interface FailedCell {
  readonly data: object;
  readonly line: string;
}

/** What is asked for. */
interface FailedOf {
  /** The file of the world, as it stands in the command that revives. */
  readonly world: string;
  /** The world as it was after this frame. */
  readonly seq: number;
  /** Whether a cell belongs to it. */
  readonly isMeant: (cell: Address) => boolean;
  /** The module of the app; absent for the built-in app. */
  readonly app?: string;
}

/**
 * Reads which cells have failed. The app has to know all definitions of the world, and to replay it.
 *
 * @returns the failed cells; undefined where only the app of the world could say
 */
export async function failedCells(
  store: ReadonlyStore,
  { world, seq, isMeant, ...named }: FailedOf,
): Promise<readonly FailedCell[] | undefined> {
  const { app, legacy } = await chooseApp(store, named);
  if (app === undefined || seq < 0) return undefined;
  const then = await worldAt(store, app, seq, { legacy }).catch(unlessRefused);
  return then
    ?.trouble()
    .filter(({ where }) => isMeant(where))
    .map((trouble) => {
      const revive = `reprise revive ${world} '${formatAddress(trouble.where)}'`;
      return { data: { ...asData(trouble), revive }, line: `${lineOf(trouble)}. Fix the cause, then: ${revive}` };
    });
}

/** An app that replays the world otherwise cannot say; what is shown besides comes from the journal. */
function unlessRefused(error: unknown): undefined {
  if (!isRepriseError(error)) throw error;
}

/** Whether a cell is one of these names, or has a key below one of them. */
export function isBelow(names: readonly string[]): (cell: Address) => boolean {
  return ([, key]) => names.some((name) => key === name || key.startsWith(`${name}/`) || key.startsWith(`${name}~`));
}

/** Failed cells as a field of JSON: null where only the app of the world could say. */
export function failedJson(failed: readonly FailedCell[] | undefined): {
  readonly failed_cells: readonly object[] | null;
} {
  return { failed_cells: failed?.map(({ data }) => data) ?? null };
}
