/** `reprise trouble`: what needs attention in a world, read without writing, also while another process has it open. */
import { isRepriseError, present } from '@reprise/contracts';
import { type CellTrouble, type ReadonlyStore, worldAt } from '@reprise/kernel';
import { type AttemptRow, type AttemptsReport, attemptsOf, attemptWords } from '@reprise/operators/attempts';
import { ownerWords, shortKey } from '@reprise/operators/names';
import { EXIT, type ExitCode } from '../process/exit.js';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { wrapToColumns } from '../text/layout.js';
import { requireApp } from '../world/app.js';
import { withWorld } from '../world/open.js';
import { asData, type HostTrouble, hostTroubles, lineOf, shownTrouble } from '../world/troubles.js';
import { newest } from './show-cell.js';

interface TroubleArguments {
  readonly app?: string;
  readonly legacy?: readonly string[];
  /** Reads the whole journal for what may have run twice. */
  readonly all?: true;
  readonly limit?: number;
  readonly after?: string;
  readonly json?: true;
}

interface Found {
  readonly host: readonly HostTrouble[];
  /** Undefined where only the app of the world could say. */
  readonly cells: readonly CellTrouble[] | undefined;
  readonly attempts: AttemptsReport;
}

/** Lists the troubles of a world. @returns 1 when there are some, or an outcome is unknown or came late */
export async function trouble(io: Io, world: string, options: TroubleArguments): Promise<ExitCode> {
  const found = await withWorld(world, async (store) => read(store, world, options));
  const { host, cells = [], attempts } = found;
  const isFinding = host.length + cells.length > 0 || attempts.rows.some(({ kind }) => kind !== 'again');
  await io.out.write(options.json === true ? json(found) : text(world, found, io.out.columns));
  return isFinding ? EXIT.finding : EXIT.ok;
}

async function read(store: ReadonlyStore, world: string, options: TroubleArguments): Promise<Found> {
  const host = await hostTroubles(store, world);
  const { limit, after } = options;
  const from = options.all === true ? 0 : 'snapshot';
  const attempts = await attemptsOf(store, { from, ...present({ limit, after }) });
  try {
    return { host, cells: await failedIn(store, options), attempts };
  } catch (error) {
    // What is known is said; with nothing to say, the reason is the answer.
    const isSaid = host.length > 0 || attempts.rows.length > 0;
    if (isSaid && isRepriseError(error)) return { host, cells: undefined, attempts };
    throw error;
  }
}

async function failedIn(store: ReadonlyStore, options: TroubleArguments): Promise<readonly CellTrouble[]> {
  const { app, legacy } = await requireApp(store, options);
  return (await worldAt(store, app, await newest(store), { legacy })).trouble();
}

function json({ host, cells, attempts }: Found): string {
  const trouble = [...host.map((one) => shownTrouble(one).data), ...(cells ?? []).map(asData)];
  return `${toJson({ trouble, complete: cells !== undefined, attempts })}\n`;
}

function text(world: string, { host, cells, attempts }: Found, columns: number | undefined): string {
  const troubles = [...host.map((one) => shownTrouble(one).line), ...(cells ?? []).map(lineOf)];
  if (cells === undefined)
    troubles.push('Failed cells are not listed: the app of the world says which. Name it: --app MODULE.');
  const { rows, from, next } = attempts;
  const since = from === 0 ? '' : `, since frame ${from} (--all reads everything)`;
  const lines =
    rows.length === 0 ? [] : [`What may have run twice${since}:`, ...rows.map((row) => lineOfAttempt(row, from))];
  if (next !== null) lines.push('  and more: --json has the cursor of the rest');
  if (rows.length === 0) {
    const scope = from === 0 ? '' : `; what may have run twice was read since frame ${from}: --all reads everything`;
    if (troubles.length === 0) lines.push(`${world}: no trouble${scope}`);
    else if (from > 0) lines.push(`Nothing may have run twice since frame ${from}: --all reads everything.`);
  }
  const fitted = [...troubles, ...lines].map(escapeLine);
  const shown = columns === undefined ? fitted : fitted.map((line) => wrapToColumns(line, columns, 4));
  return `${shown.join('\n')}\n`;
}

function lineOfAttempt(row: AttemptRow, from: number): string {
  const { place, of, what } = row;
  const frame = place === null ? `before frame ${from}` : `frame ${place.frame}`;
  return `  ${frame}, ${ownerWords(of)}: ${shortKey(what)} ${attemptWords(row)}`;
}
