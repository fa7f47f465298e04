/**
 * A process of Node that ends with its owner and within its bound of memory.
 *
 * Invariants
 * E1  It is killed when its owner is gone, also when the owner was killed and when the process works without a pause: a
 *     shell in its group waits at a pipe that ends with the owner.
 * E2  The bound covers all memory of the process, not the heap alone: the owner measures it while the process runs, and
 *     the operating system enforces a second bound for the time in which the owner cannot measure.
 *
 * On Windows neither exists: only the heap is bounded there, and the process ends with its input.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { withholding } from './flags.js';

const SHELL = '/bin/sh';

/** `$1` is the most memory for data, in KiB. The shell becomes the program; a part of it stays and waits (E1). */
const SCRIPT = 'ulimit -d "$1" 2>/dev/null; shift; (read -r _; kill -s KILL 0) <&3 >/dev/null 2>&1 & exec "$@" 3<&-';

/** The memory that a process of Node takes before any code of the app runs, in MiB, with space for its scripts. */
const OWN_MB = 128;

/** Memory that the system counts and no code uses: stacks of threads, and reserved memory; in MiB. */
const RESERVED_MB = 384;

/** The interval of measuring the memory, in milliseconds: when a file shows it, and when a program has to. */
const LOOK_MS = 20;
const POLL_MS = 250;

const PAGE_BYTES = 4_096;
const MB = 1024 * 1024;

const isUnix = process.platform !== 'win32' && existsSync(SHELL);

/** A process with its bounds. */
export interface BoundedProcess {
  readonly child: ChildProcess;
  /** Kills it, together with its watchers. */
  kill(): void;
}

/**
 * Starts a script.
 *
 * @param script the text of the script
 * @param memoryMb the bound of its code's memory, in MiB
 * @param tooMuch called once when it exceeded the bound; it has been killed by then
 */
export function startBounded(script: string, memoryMb: number, tooMuch: () => void): BoundedProcess {
  const argv = [...withholding(memoryMb), '--eval', script];
  const child = isUnix
    ? spawn(
        SHELL,
        ['-c', SCRIPT, 'reprise-sandbox', String((memoryMb + RESERVED_MB) * 1024), process.execPath, ...argv],
        {
          env: {},
          stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
          detached: true, // a separate group, with the shell that waits
        },
      )
    : spawn(process.execPath, argv, { env: {}, stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
  const kill = (): void => killGroup(child);
  const stop = watchMemory(child, (memoryMb + OWN_MB) * MB, () => {
    kill();
    tooMuch();
  });
  child.once('exit', () => {
    stop();
    kill(); // the shell that waited
  });
  child.stdio[3]?.on('error', () => undefined);
  return { child, kill };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (isUnix) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It is over.
  }
}

/** E2. @returns a function that ends the measuring */
function watchMemory({ pid }: ChildProcess, bytesMax: number, tooMuch: () => void): () => void {
  if (pid === undefined || !isUnix) return () => undefined;
  const found = (bytes: number): void => {
    if (bytes <= bytesMax) return;
    clearInterval(timer);
    tooMuch();
  };
  const isLinux = process.platform === 'linux';
  const look = isLinux ? () => found(residentBytes(pid)) : () => askResident(pid, found);
  const timer = setInterval(look, isLinux ? LOOK_MS : POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return 0; // the process has ended
  }
}

function askResident(pid: number, found: (bytes: number) => void): void {
  execFile('ps', ['-o', 'rss=', '-p', String(pid)], (error, stdout) => {
    if (error === null) found(Number(stdout) * 1024);
  });
}
