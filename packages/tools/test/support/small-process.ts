/** Runs a test's host in a process with little memory, within a bound on time, and reads what it measured. */
import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, expect } from 'vitest';

/** The heap of a host in MiB. */
const HEAP_MB = 192;

/** The CPU time of a host in milliseconds; it does not depend on what else the machine does. */
export const CPU_MS = 40_000;

/** When a host is ended, in milliseconds: it hangs, or the machine has no time for it. */
const WALL_MS = 150_000;

const started: ChildProcess[] = [];
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** What a host prints: the outcome, and what it cost. */
export interface Came {
  readonly came: string;
  /** MiB of memory on top of what the host had at its start. */
  readonly more: number;
  /** The most CPU time between two turns of its event loop, in milliseconds. */
  readonly longestTurn: number;
  /** Milliseconds of CPU time. */
  readonly took: number;
}

/** Kills a process at the end of the tests. */
export function endWithTests<P extends ChildProcess>(child: P): P {
  started.push(child);
  return child;
}

/** Runs a host. @param how the case, for the message of a failure; @param host the file that Node runs */
export async function runSmall(how: string, host: string, args: readonly string[]): Promise<Came> {
  const argv = [`--max-old-space-size=${HEAP_MB}`, host, ...args];
  const child = endWithTests(spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] }));
  const clock = setTimeout(() => child.kill('SIGKILL'), WALL_MS);
  let printed = '';
  child.stdout.on('data', (bytes) => {
    printed += String(bytes);
  });
  const ended = await new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)));
  clearTimeout(clock);
  expect(ended, `${how}: ${printed}`).toBe(0);
  return JSON.parse(printed) as Came;
}
