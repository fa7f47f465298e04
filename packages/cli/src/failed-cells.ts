/** What holds up a tree or a project: failed cells and other troubles, with what to do about them. */
import { stallsOf } from '@reprise/agent';
import { type Address, formatAddress, isRepriseError } from '@reprise/contracts';
import { type ReadonlyStore, worldAt } from '@reprise/kernel';
import { chooseApp } from './app.js';
import { asData, type HostTrouble, hostTroubles, lineOf, type ShownTrouble, shownTrouble } from './troubles.js';

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
): Promise<readonly ShownTrouble[] | undefined> {
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

/** The troubles of a tree or a project: what holds it up, and what a person should know besides. */
interface PartTroubles {
  /** Below what is shown. */
  readonly lines: readonly string[];
  /** `failed_cells` is null where only the app of the world could say. */
  readonly json: { readonly stalled: readonly object[]; readonly failed_cells: readonly object[] | null };
}

/**
 * Reads what holds up a tree or a project: its failed cells, and what the process that has the world open says.
 *
 * @param asked `past` when a past state is shown: what that process says holds for now alone
 */
export async function partTroubles(
  store: ReadonlyStore,
  { past = false, ...asked }: FailedOf & { readonly past?: boolean },
): Promise<PartTroubles> {
  const host = past ? [] : await hostTroubles(store, asked.world);
  const failed = await failedCells(store, asked);
  const posted = host.filter((one) => one.kind !== 'process_died');
  const stalls = new Set<HostTrouble>(stallsOf(posted, asked.isMeant));
  const isShown = (one: HostTrouble) => stalls.has(one) || one.kind !== 'service_failing';
  const lines = host
    .filter(isShown)
    .map((one) => `${stalls.has(one) ? 'stalled' : 'trouble'}: ${shownTrouble(one).line}`);
  return {
    lines: [...lines, ...(failed ?? []).map(({ line }) => line)],
    json: {
      stalled: [...stalls].map((one) => shownTrouble(one).data),
      failed_cells: failed?.map(({ data }) => data) ?? null,
    },
  };
}
