/** `reprise trouble`: what needs attention in a world, read without writing, also while another process has it open. */
import { isRepriseError } from '@reprise/contracts';
import { type CellTrouble, type ReadonlyStore, worldAt } from '@reprise/kernel';
import { EXIT, type ExitCode } from '../process/exit.js';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { withWorld } from '../world/open.js';
import { asData, type HostTrouble, hostTroubles, lineOf, shownTrouble } from '../world/troubles.js';
import { newest, requireApp } from './show-cell.js';

interface TroubleArguments {
  readonly app?: string;
  readonly legacy?: readonly string[];
  readonly json?: true;
}

interface Found {
  readonly host: readonly HostTrouble[];
  /** Undefined where only the app of the world could say. */
  readonly cells: readonly CellTrouble[] | undefined;
}

/** Lists the troubles of a world. @returns 1 when there are some */
export async function trouble(io: Io, world: string, options: TroubleArguments): Promise<ExitCode> {
  const found = await withWorld(world, async (store) => read(store, world, options));
  const { host, cells = [] } = found;
  const none = host.length + cells.length === 0;
  await io.out.write(options.json === true ? json(found) : text(world, found));
  return none ? EXIT.ok : EXIT.finding;
}

async function read(store: ReadonlyStore, world: string, options: TroubleArguments): Promise<Found> {
  const host = await hostTroubles(store, world);
  try {
    return { host, cells: await failedIn(store, options) };
  } catch (error) {
    // What is known is said; with nothing to say, the reason is the answer.
    if (host.length > 0 && isRepriseError(error)) return { host, cells: undefined };
    throw error;
  }
}

async function failedIn(store: ReadonlyStore, options: TroubleArguments): Promise<readonly CellTrouble[]> {
  const { app, legacy } = await requireApp(store, options);
  return (await worldAt(store, app, await newest(store), { legacy })).trouble();
}

function json({ host, cells }: Found): string {
  const trouble = [...host.map((one) => shownTrouble(one).data), ...(cells ?? []).map(asData)];
  return `${toJson({ trouble, complete: cells !== undefined })}\n`;
}

function text(world: string, { host, cells }: Found): string {
  const lines = [...host.map((one) => shownTrouble(one).line), ...(cells ?? []).map(lineOf)];
  if (cells === undefined)
    lines.push('Failed cells are not listed: the app of the world says which. Name it: --app MODULE.');
  if (lines.length === 0) lines.push(`${world}: no trouble`);
  return `${lines.map(escapeLine).join('\n')}\n`;
}
