/**
 * Programs of an earlier process that still live, although their session goes on here.
 *
 * A program's group and the time at which it began stand in a file while it lives. A process that is killed leaves the
 * file behind, and perhaps the program: usually the warden of its process has ended it. Before a program is started for
 * the same session, a group that still is the recorded one is killed.
 *
 * Invariants
 * O1  Only a group whose leader began at the recorded time, since the same start of the machine, is killed: an id that
 *     another program was given since is left alone.
 * O2  While a recorded group lives, no program of its session is started.
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { parseJson } from '@reprise/contracts/json';
import type { ProgramWatch } from '@reprise/tools/external';
import { ORPHAN_GONE_MS } from './limits.js';
import { writeOwn } from './place.js';
import { statOf, textOf } from './processes.js';

const POLL_MS = 20;

interface Recorded {
  readonly group: number;
  /** When its leader began, in the words of the system. */
  readonly began: string;
}

/**
 * Records the programs of sessions, and ends those of an earlier process.
 *
 * @param folder where the records stand; it exists when a program is started
 */
export function orphanWatch(folder: () => string): ProgramWatch {
  const fileOf = (session: string): string => path.join(folder(), `${digest(session)}.program`);
  return {
    starting: ({ session }) => endRecorded(fileOf(session.key)),
    started({ session }, { group, ended }) {
      const began = beganAt(group);
      if (began === undefined) return; // it has ended already, or the system does not tell
      const file = fileOf(session.key);
      writeOwn(file, { group, began });
      // A group that does not end at once stays recorded: the next start waits for it (O2).
      const forget = (): void => {
        if (beganAt(group) !== began) remove(file, group);
      };
      ended.addEventListener('abort', forget, { once: true });
    },
  };
}

async function endRecorded(file: string): Promise<void> {
  const recorded = read(file);
  if (recorded === undefined) return;
  const { group, began } = recorded;
  for (const end = Date.now() + ORPHAN_GONE_MS; beganAt(group) === began; ) {
    if (Date.now() > end) throw new Error(`an earlier program of this session (process ${group}) cannot be ended`);
    kill(group);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  remove(file, group);
}

/** When a process began, with the start of the machine; undefined when there is no such process. O1 */
export function beganAt(pid: number): string | undefined {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') return fromPs(pid);
  const [state, ...fields] = statOf(pid) ?? ['X'];
  const boot = state === 'Z' || state === 'X' ? undefined : textOf('/proc/sys/kernel/random/boot_id');
  return boot === undefined ? undefined : `${boot.trim()} ${fields[STARTED - 1]}`;
}

/** The place of the start time behind the state, in `/proc/PID/stat`. */
const STARTED = 19;

function fromPs(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function read(file: string): Recorded | undefined {
  try {
    const { group, began } = parseJson(readFileSync(file, 'utf8')) as Recorded;
    return Number.isSafeInteger(group) && group > 1 && typeof began === 'string' ? { group, began } : undefined;
  } catch {
    return undefined;
  }
}

/** Removes a record, unless another program was recorded since. */
function remove(file: string, group: number): void {
  if (read(file)?.group === group) rmSync(file, { force: true });
}

function digest(session: string): string {
  return createHash('sha256').update(session).digest('hex').slice(0, 32);
}
