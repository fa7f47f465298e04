/** What holds up a tree or a project: failed cells and other troubles, with what to do about them. */
import { stallsOf } from '@reprise/agent';
import { type Address, formatAddress, isRepriseError } from '@reprise/contracts';
import { type PostedTroubles, type ReadonlyStore, worldAt } from '@reprise/kernel';
import { failedCellsAt } from '@reprise/operators/now';
import { chooseApp } from './app.js';
import { asData, type HostTrouble, hostOf, lineOf, type ShownTrouble, shownTrouble } from './troubles.js';

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
 * Reads which cells have failed. Where one has, the app has to know all definitions of the world, and to replay it.
 *
 * @returns the failed cells; undefined where only the app of the world could say
 */
export async function failedCells(
  store: ReadonlyStore,
  { world, seq, isMeant, ...named }: FailedOf,
): Promise<readonly ShownTrouble[] | undefined> {
  if (seq < 0) return undefined;
  if ((await failedCellsAt(store, seq)).length === 0) return [];
  const { app, legacy } = await chooseApp(store, named);
  if (app === undefined) return undefined;
  const then = await worldAt(store, app, seq, { legacy }).catch(unlessRefused);
  return then
    ?.trouble()
    .filter(({ where }) => isMeant(where))
    .map((trouble) => {
      const revive = `reprise revive ${world} '${formatAddress(trouble.where)}'`;
      return {
        data: { ...asData(trouble), revive },
        line: `${lineOf(trouble)}. Fix the cause, then: ${revive}`,
        code: trouble.code,
        cells: [trouble.where],
      };
    });
}

/** An app that replays the world otherwise cannot say; what is shown besides comes from the journal. */
function unlessRefused(error: unknown): undefined {
  if (!isRepriseError(error)) throw error;
}

/** The troubles of a tree or a project: what holds it up, and what a person should know besides. */
export interface PartTroubles {
  /** Lines to print below what the command shows. */
  readonly lines: readonly string[];
  /** `failed_cells` is null where only the app of the world could say. */
  readonly json: {
    readonly stalled: readonly object[];
    readonly failed_cells: readonly object[] | null;
    /** Who has the world open; null in the past. */
    readonly process: Writer | null;
  };
  /** Whether no process has the world open, so that nothing goes on. */
  readonly isUnowned: boolean;
  /** Those that hold up some of its cells. */
  of(isMeant: (cell: Address) => boolean): readonly ShownTrouble[];
}

type Writer = PostedTroubles['writer'];

/**
 * Reads what holds up a tree or a project: its failed cells, and what the process that has the world open says.
 *
 * @param asked `past` when a past state is shown: what that process says holds for now alone
 */
export async function partTroubles(
  store: ReadonlyStore,
  { past = false, ...asked }: FailedOf & { readonly past?: boolean },
): Promise<PartTroubles> {
  const { writer, troubles: host } = past ? NOTHING_POSTED : await hostOf(store, asked.world);
  const failed = await failedCells(store, asked);
  const posted = host.filter((one) => one.kind !== 'process_died');
  const stalls = new Set<HostTrouble>(stallsOf(posted, asked.isMeant));
  const isShown = (one: HostTrouble) => stalls.has(one) || one.kind !== 'service_failing';
  const shown = host.filter((one) => stalls.has(one)).map(shownTrouble);
  const lines = host
    .filter(isShown)
    .map((one) => `${stalls.has(one) ? 'stalled' : 'trouble'}: ${shownTrouble(one).line}`);
  return {
    lines: [...lines, ...(failed ?? []).map(({ line }) => line)],
    json: {
      stalled: shown.map(({ data }) => data),
      failed_cells: failed?.map(({ data }) => data) ?? null,
      process: writer ?? null,
    },
    isUnowned: isUnownedBy(writer),
    of: (isMeant) => [...shown, ...(failed ?? [])].filter(({ cells }) => cells.some(isMeant)),
  };
}

/** Whether no process has the world open. */
export function isUnownedBy(writer: Writer | undefined): boolean {
  return writer === 'died' || writer === 'closed';
}

const NOTHING_POSTED: { readonly writer?: undefined; readonly troubles: readonly HostTrouble[] } = { troubles: [] };

/** What holds up a part whose process is gone: a line that says so, and how it goes on. */
export function unownedLine(
  what: string,
  { isUnowned }: Pick<PartTroubles, 'isUnowned'>,
  command: string,
): readonly string[] {
  return isUnowned ? [`no process runs ${what}; to go on with it: ${command}`] : [];
}
