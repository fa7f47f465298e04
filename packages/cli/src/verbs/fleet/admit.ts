/** `reprise fleet admit`: an operator admits a database that was restored or promoted. */
import { RepriseError } from '@reprise/contracts';
import type { AdmitReport, LostWorld } from '@reprise/store-postgres';
import { EXIT } from '../../process/exit.js';
import type { Io } from '../../process/io.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { type Column, tableLines } from '../../text/table.js';
import { databaseAt } from '../../world/place.js';
import { witnessAt } from '../../world/witness.js';

interface AdmitArguments {
  readonly witness?: string | false;
  readonly open?: readonly string[];
  readonly openAll?: true;
  readonly look?: true;
  readonly json?: true;
}

/** How long statements may take, twice, in milliseconds: they compare and note all worlds in one transaction. */
const TTL_MS = 1_200_000;

const LOST: readonly Column[] = [
  { head: 'world', align: 'left' },
  { head: 'had', align: 'right' },
  { head: 'has', align: 'right' },
  { head: 'lost', align: 'right' },
  { head: '', align: 'left' },
];

/** Admits a database, and prints what it has lost. @returns 1 while worlds stay closed */
export async function fleetAdmit(io: Io, database: string, given: AdmitArguments): Promise<number> {
  const { open = [], openAll, look = false, json } = given;
  if (look && (open.length > 0 || openAll === true)) throw both('--look', '--open');
  await using at = await databaseAt(database, { ttl: TTL_MS });
  const witness = await witnessOf(given);
  const report = await at.admit({
    ...(witness === undefined ? {} : { witness }),
    ...{ open: openAll === true ? 'all' : open, look },
  });
  const isFinding = report.lost.some(({ opened }) => !opened) || (look && report.reason !== null);
  if (json === true) await io.out.write(`${toJson({ ok: !isFinding, ...withDigests(report) })}\n`);
  else await io.out.write(`${linesOf(report, look, io.out.columns).map(escapeLine).join('\n')}\n`);
  return isFinding ? EXIT.finding : EXIT.ok;
}

async function witnessOf({ witness }: AdmitArguments) {
  if (witness === false) return undefined;
  const place = witness ?? process.env.REPRISE_WITNESS ?? '';
  if (place !== '') return witnessAt(place, process.env);
  throw new RepriseError('invalid_argument', 'a database is compared with its witness before it is admitted', {
    where: '--witness',
    expected: 'a folder, or s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION; also in REPRISE_WITNESS',
    hint: 'With --no-witness it is admitted although nothing says which worlds have lost frames.',
  });
}

function both(one: string, other: string): RepriseError {
  return new RepriseError('invalid_argument', `${one} decides nothing, and ${other} decides`, { where: one });
}

function withDigests(report: AdmitReport): object {
  const shown = ({ seq, digest }: LostWorld['had']) => (seq < 0 ? null : { seq, head: `sha256:${digest}` });
  return { ...report, lost: report.lost.map(({ had, has, ...one }) => ({ ...one, had: shown(had), has: shown(has) })) };
}

function linesOf(report: AdmitReport, look: boolean, columns: number | undefined): readonly string[] {
  const { lost, completeSince } = report;
  const rows = lost.map(({ world, had, has, opened }) => [
    ...[world, String(had.seq), has.seq < 0 ? '-' : String(has.seq), framesLost(had.seq, has.seq)],
    opened ? 'opened' : 'closed',
  ]);
  const closed = lost.filter(({ opened }) => !opened).length;
  return [
    reasonOf(report),
    comparedOf(report),
    ...(completeSince === 0 ? [] : [incompleteOf(completeSince)]),
    ...(rows.length === 0 ? [] : ['', ...tableLines(LOST, rows, columns), '']),
    ...(look ? ['nothing was decided'] : decisionOf(report)),
    ...(closed === 0 || look
      ? []
      : ['a closed world is refused with head_mismatch; --open WORLD lets it go on from the frame it has']),
    ...(lost.length > closed
      ? ['effects after that frame may have been done: a request that is made again is executed again']
      : []),
  ];
}

/** A world that went back unnoticed and went on has other frames in place of those that it lost, and nobody counted them. */
function framesLost(had: number, has: number): string {
  return has < had ? String(had - has) : 'some';
}

const REASONS = {
  system: 'the server is another one',
  database: 'the database is another one of its server',
  timeline: 'the database went on in another timeline',
  heads: 'the database lacks frames that were acknowledged',
};

function reasonOf({ reason, changed }: AdmitReport): string {
  if (reason === null) return 'this database is admitted, and lacks no other frame';
  return REASONS[reason] + (changed === null ? '' : `: ${changed.before} at the last admission, ${changed.now} now`);
}

function comparedOf({ compared, lost }: AdmitReport): string {
  if (compared === null) return 'compared with no witness: nothing says which worlds have lost frames';
  return `${compared} ${compared === 1 ? 'world' : 'worlds'} of the witness compared, ${lost.length} lost acknowledged frames`;
}

function incompleteOf(since: number): string {
  return `the witness is complete since ${new Date(since).toISOString()}; of worlds that were written last before, it has some`;
}

function decisionOf({ admitted, incarnation }: AdmitReport): readonly string[] {
  return admitted ? [`admitted as incarnation ${incarnation}: the other worlds open`] : [];
}
