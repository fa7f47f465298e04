/** Reads forged worlds in a process of its own, with bounds on its memory and on its time. */
import { spawn } from 'node:child_process';
import { program } from '../../../../scripts/lib/program.js';

/** What the readers of forged worlds came to. */
export interface HostileWorlds {
  readonly forged: number;
  readonly slowestMs: number;
  readonly largestRss: number;
  readonly counts: readonly (readonly [string, number])[];
  /** What escaped that is not an error of the closed list, each with its seed. */
  readonly broke: readonly string[];
}

/** Heap of the process, in MiB. The worlds take some sixty; one that grows without end is ended by it. */
const HEAP_MIB = 192;

const CHILD = await program(new URL('./worlds-child.ts', import.meta.url));

/**
 * Forges worlds and reads them.
 *
 * @param withinMs how long the process may take; it is killed then
 * @throws Error when the process ran out of memory or time, with the command that runs the same again
 */
export function readHostileWorlds(seed: number, runs: number, withinMs: number): Promise<HostileWorlds> {
  const args = [CHILD, String(seed), String(runs)];
  const heap = `--max-old-space-size=${HEAP_MIB}`;
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [heap, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    const alarm = setTimeout(() => child.kill('SIGKILL'), withinMs);
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(alarm);
      if (code !== 0) {
        const why = signal === 'SIGKILL' ? `no answer within ${withinMs} ms` : `exit ${code ?? signal}`;
        reject(new Error(`${why}\nrerun: node ${heap} ${args.join(' ')}\n${out.slice(-2_000)}${err.slice(-2_000)}`));
        return;
      }
      const lines = out.trim().split('\n');
      resolve({ ...(JSON.parse(lines.pop() ?? '') as Omit<HostileWorlds, 'broke'>), broke: lines });
    });
  });
}
