/** `reprise fleet`: the processes that share a database, and the one thing that is asked of them. */
import { RepriseError } from '@reprise/contracts';
import type { FleetDirectory, FleetHost, FleetRows } from '@reprise/store-postgres';
import { EXIT } from '../../process/exit.js';
import type { Io } from '../../process/io.js';
import { durationText } from '../../text/age.js';
import { escapeLine } from '../../text/escape.js';
import { toJson } from '../../text/json.js';
import { type Column, tableLines } from '../../text/table.js';
import { databaseAt } from '../../world/place.js';

interface FleetArguments {
  readonly json?: true;
}

/** From here on a due timer, or a posted call that waits, is a finding: hosts that live look at least twice in a lease. */
const LATE_MS = 60_000;

const HOSTS: readonly Column[] = [
  { head: 'process', align: 'left' },
  { head: 'address', align: 'left' },
  { head: 'lease', align: 'right' },
  { head: 'worlds', align: 'right' },
  { head: '', align: 'left' },
];

const DIRECTORIES: readonly Column[] = [
  { head: 'directory', align: 'left' },
  { head: 'open', align: 'right' },
  { head: 'waiting', align: 'right' },
  { head: 'due', align: 'right' },
  { head: 'late', align: 'right' },
  { head: 'posted', align: 'right' },
  { head: 'since', align: 'right' },
  { head: 'unknown', align: 'right' },
];

/** Prints the processes of a database and its directories. @returns 1 when a process is dead with worlds, or timers or posted calls are late */
export async function fleetStatus(io: Io, database: string, { json }: FleetArguments): Promise<number> {
  const rows = await readRows(database);
  const isFinding = rows.hosts.some(({ leaseMs }) => leaseMs <= 0) || rows.directories.some(isLate);
  if (json === true) await io.out.write(`${toJson({ ok: !isFinding, ...rows })}\n`);
  else await io.out.write(`${linesOf(rows, io.out.columns).join('\n')}\n`);
  return isFinding ? EXIT.finding : EXIT.ok;
}

/** Asks a process to leave. @throws RepriseError `invalid_argument` when none or several have the name */
export async function fleetDrain(io: Io, database: string, host: string, { json }: FleetArguments): Promise<void> {
  await using at = await databaseAt(database);
  const { hosts } = await at.fleet();
  const found = hosts.filter(
    ({ id, address, leaseMs }) => leaseMs > 0 && [id, address].some((name) => name?.startsWith(host)),
  );
  const [one, ...more] = found;
  if (one === undefined || more.length > 0 || host === '') throw notOne(host, found);
  if (!(await at.drain(one.id))) throw notOne(host, []);
  if (json === true) return io.out.write(`${toJson({ ok: true, host: one.id, address: one.address ?? null })}\n`);
  await io.out.write(
    `${escapeLine(`${one.id} ${one.address ?? ''}`.trimEnd())} is asked to leave, and sees it with its next beat\n`,
  );
}

async function readRows(database: string): Promise<FleetRows> {
  await using at = await databaseAt(database);
  return await at.fleet(); // before its connections end
}

function linesOf({ hosts, directories }: FleetRows, columns: number | undefined): readonly string[] {
  const processes = hosts.map(({ id, address = '-', leaseMs, open, leaving }) => [
    ...[id, address, leaseMs > 0 ? `${leaseMs} ms` : 'over', String(open)],
    leaseMs > 0 ? (leaving ? 'leaving' : '') : 'dead',
  ]);
  const names = directories.map(({ name, open, waiting, due, lateMs, posted, postedMs, unknown }) => [
    ...[name, String(open), String(waiting), String(due), lateMs > 0 ? durationText(lateMs) : '-'],
    ...[String(posted), posted > 0 ? durationText(postedMs) : '-', String(unknown)],
  ]);
  const escaped = (rows: readonly (readonly string[])[]) => rows.map((row) => row.map(escapeLine));
  return [
    ...(hosts.length === 0 ? ['no process has this database open'] : tableLines(HOSTS, escaped(processes), columns)),
    ...(directories.length === 0 ? [] : ['', ...tableLines(DIRECTORIES, escaped(names), columns)]),
  ];
}

function isLate({ lateMs, postedMs }: FleetDirectory): boolean {
  return lateMs > LATE_MS || postedMs > LATE_MS;
}

function notOne(host: string, found: readonly FleetHost[]): RepriseError {
  return new RepriseError(
    'invalid_argument',
    found.length === 0 ? 'no living process has this name' : 'several processes have this name',
    {
      where: host,
      expected: 'the id or the address of one process, or the beginning of it',
      ...(found.length === 0 ? {} : { actual: found.map(({ id, address }) => `${id} ${address ?? ''}`).join(', ') }),
      hint: 'reprise fleet status lists them.',
    },
  );
}
