/** `reprise trouble`: what needs attention in a world, read without writing, also while another process has it open. */
import { formatAddress, isRepriseError, present } from '@reprise/contracts';
import { type CellTrouble, type ReadonlyStore, worldAt } from '@reprise/kernel';
import { type AttemptRow, type AttemptsReport, attemptsOf, attemptWords } from '@reprise/operators/attempts';
import { ownerWords, shortKey } from '@reprise/operators/names';
import { type CellFailure, failedCellsAt } from '@reprise/operators/now';
import { EXIT, type ExitCode } from '../process/exit.js';
import type { Io } from '../process/io.js';
import { escapeLine } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { wrapToColumns } from '../text/layout.js';
import { timeOf } from '../text/record-line.js';
import { requireApp } from '../world/app.js';
import { looksAt } from '../world/frames.js';
import { withWorld } from '../world/open.js';
import { asData, type HostTrouble, hostTroubles, lineOf, shownTrouble } from '../world/troubles.js';
import { newest } from './show-cell.js';

interface TroubleArguments {
  readonly app?: string;
  readonly legacy?: readonly string[];
  /** Reads the whole journal for what may have run twice. */
  readonly all?: true;
  /** Prints the list again whenever it changes. */
  readonly follow?: true;
  readonly limit?: number;
  readonly after?: string;
  readonly json?: true;
}

interface Found {
  readonly host: readonly HostTrouble[];
  /** Undefined where only the app of the world could say all of it. */
  readonly cells: readonly CellTrouble[] | undefined;
  /** The failed cells as the frames state them. */
  readonly failed: readonly CellFailure[];
  readonly attempts: AttemptsReport;
}

/** Lists the troubles of a world; with `follow`, again whenever they change. @returns 1 when there are some, or an outcome is unknown or came late */
export async function trouble(io: Io, world: string, options: TroubleArguments): Promise<ExitCode> {
  return withWorld(world, async (store) => {
    if (options.follow === true) return follow(io, store, world, options);
    const found = await read(store, world, options);
    const { host, failed, attempts } = found;
    const isFinding = host.length + failed.length > 0 || attempts.rows.some(({ kind }) => kind !== 'again');
    await io.out.write(laidOut(io, world, found, options));
    return isFinding ? EXIT.finding : EXIT.ok;
  });
}

/** Prints the troubles whenever they change, until the user interrupts. */
async function follow(io: Io, store: ReadonlyStore, world: string, options: TroubleArguments): Promise<ExitCode> {
  let [seen, told]: [string?, string?] = [];
  for await (const head of looksAt(store, io, world)) {
    // The frames are read again where there are new ones; whether the process lives stands in none.
    const now = toJson([head, (await hostTroubles(store, world)).map((one) => shownTrouble(one).data)]);
    if (now === seen) continue;
    seen = now;
    const found = await read(store, world, options);
    const last = json(found);
    if (last === told) continue;
    await io.out.write(
      `${told === undefined || options.json === true ? '' : '\n'}${laidOut(io, world, found, options)}`,
    );
    told = last;
  }
  return EXIT.ok;
}

function laidOut(io: Io, world: string, found: Found, options: TroubleArguments): string {
  return options.json === true ? json(found) : text(world, found, io.out.columns);
}

async function read(store: ReadonlyStore, world: string, options: TroubleArguments): Promise<Found> {
  const host = await hostTroubles(store, world);
  const { limit, after } = options;
  const from = options.all === true ? 0 : 'snapshot';
  const attempts = await attemptsOf(store, { from, ...present({ limit, after }) });
  const failed = await failedCellsAt(store, await newest(store));
  if (failed.length === 0) return { host, cells: [], failed, attempts }; // nothing is replayed, and no app is needed
  try {
    return { host, cells: await failedIn(store, options), failed, attempts };
  } catch (error) {
    if (isRepriseError(error)) return { host, cells: undefined, failed, attempts };
    throw error;
  }
}

async function failedIn(store: ReadonlyStore, options: TroubleArguments): Promise<readonly CellTrouble[]> {
  const { app, legacy } = await requireApp(store, options);
  return (await worldAt(store, app, await newest(store), { legacy })).trouble();
}

function json({ host, cells, failed, attempts }: Found): string {
  const trouble = [...host.map((one) => shownTrouble(one).data), ...(cells?.map(asData) ?? failed.map(dataOfFailure))];
  return `${toJson({ trouble, complete: cells !== undefined, attempts })}\n`;
}

function dataOfFailure({ cell, what, place }: CellFailure): object {
  return { kind: 'cell_failed', where: formatAddress(cell), what, frame: place.frame, since: place.at };
}

function lineOfFailure({ cell, what, place }: CellFailure): string {
  return `${formatAddress(cell)} has failed: ${what}, in frame ${place.frame}, ${timeOf(place.at)}`;
}

function text(world: string, { host, cells, failed, attempts }: Found, columns: number | undefined): string {
  const troubles = [...host.map((one) => shownTrouble(one).line), ...(cells?.map(lineOf) ?? failed.map(lineOfFailure))];
  if (cells === undefined)
    troubles.push(
      'How many waited for a failed cell is not said: the app of the world says it. Name it: --app MODULE.',
    );
  const { rows, from, next } = attempts;
  const since = from === 0 ? '' : `, since frame ${from} (--all reads everything)`;
  const lines =
    rows.length === 0 ? [] : [`What may have run twice${since}:`, ...rows.map((row) => lineOfAttempt(row, from))];
  if (next !== null) lines.push('  and more: --json has the cursor of the rest');
  if (rows.length === 0) {
    const scope =
      from === 0
        ? ', and nothing may have run twice'
        : `; what may have run twice was read since frame ${from}: --all reads everything`;
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
