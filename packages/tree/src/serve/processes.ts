/**
 * Which process is at the other end of a connection, and what it belongs to: from `/proc`, so on Linux only.
 *
 * Node does not tell the peer of a socket. So the owner gives each connection a fresh name, and the process at the other
 * end takes it as its own: no process can name another one, and the name says which process it is in whatever namespace.
 *
 * Invariants
 * Q1  A process is a program's when it, or one above it, carries the mark of programs, or is in the process group or the
 *     session of one. A program that leaves its session, its ancestors and its environment behind is not recognized.
 * Q2  What cannot be read speaks against a process, not for it.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isRunningProgram, PROGRAM_MARK } from '@reprise/tools/programs';

/** Whether this system shows which process bears a name. */
export const SHOWS_PROCESSES = process.platform === 'linux' && existsSync('/proc/self/comm');

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** It has a controlling terminal. */
  readonly isAtTerminal: boolean;
}

/** The bytes of a fresh name: as text they have the 12 characters that the system keeps whole. */
const NAME_BYTES = 9;

/** A name that no process can have guessed. */
export function freshName(): string {
  return randomBytes(NAME_BYTES).toString('base64url');
}

let naming: Promise<unknown> = Promise.resolve();

/** Bears a name while something is done; of several names in this process one is borne after another. */
export function bearing<T>(name: string, act: () => Promise<T>): Promise<T> {
  const done = naming.then(async () => {
    const before = process.title;
    process.title = name;
    try {
      return await act();
    } finally {
      process.title = before;
    }
  });
  naming = done.catch(() => undefined);
  return done;
}

/** The processes that bear a name. */
export function bearersOf(name: string): readonly number[] {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry));
  return pids.filter((pid) => textOf(`/proc/${pid}/comm`)?.trimEnd() === name).map(Number);
}

/** Whether a process is a program with this process group, or below it. */
export function isBelow(pid: number, group: number): boolean {
  return lineOf(pid).some((one) => one.pid === group || one.group === group || one.session === group);
}

/** Why a process is not a person's at a terminal, as a part of a sentence; undefined when it is one's. */
export function whyNoPerson(pid: number): string | undefined {
  const line = lineOf(pid);
  const [own] = line;
  if (own === undefined || textOf(`/proc/${pid}/environ`) === undefined) return `process ${pid} cannot be read`; // Q2
  const program = line.find(isProgram);
  if (program !== undefined) return `process ${pid} belongs to a program of agents (process ${program.pid})`;
  return own.isAtTerminal ? undefined : `process ${pid} was not started at a terminal`;
}

// Q1
function isProgram({ pid, group, session }: Process): boolean {
  const isOfGroup = [pid, group, session].some(isRunningProgram);
  return isOfGroup || `\0${textOf(`/proc/${pid}/environ`) ?? ''}`.includes(`\0${PROGRAM_MARK}=`);
}

/** A process and those above it, up to the first that cannot be read. */
function lineOf(pid: number): readonly Process[] {
  const line: Process[] = [];
  for (let one = processOf(pid); one !== undefined && line.length < LINE_MAX; one = processOf(one.parent))
    line.push(one);
  return line;
}

/** The most processes above each other that are looked at: ids that are given again could make a circle. */
const LINE_MAX = 1_000;

function processOf(pid: number): Process | undefined {
  const stat = pid < 1 ? undefined : statOf(pid);
  if (stat === undefined) return undefined;
  const [, parent, group, session, terminal] = stat;
  const isAtTerminal = terminal !== '0';
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), isAtTerminal };
}

/** What the system says of a process, from its state on; undefined when there is no such process. */
export function statOf(pid: number): readonly string[] | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  // The name stands between the first and the last parenthesis, and may hold both.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** A file of the system; undefined when it cannot be read. */
export function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return undefined;
  }
}
