/**
 * Runs one turn of a program: `hostile-host.ts PROGRAM HOW`. Prints the result, the peak memory, the most CPU time between
 * two turns of the event loop, and the CPU time.
 */
import { isToolError } from '@reprise/agent';
import { cpuMs } from '../../../../scripts/lib/cpu.js';
import { AcpProgram } from '../../src/external/acp.js';

const [program = '', how = ''] = process.argv.slice(2);
const MIB = 1024 * 1024;
let [longestTurn, last, resident] = [0, cpuMs(), 0];
setInterval(() => {
  const now = cpuMs();
  longestTurn = Math.max(longestTurn, now - last);
  last = now;
}, 5).unref();
setInterval(() => {
  resident = Math.max(resident, process.memoryUsage().rss);
}, 20).unref();

const ctx = {
  session: { key: 's', labels: {} },
  signal: new AbortController().signal,
  progress: () => undefined,
  world: { transcript: async () => [] },
};
const before = process.memoryUsage().rss;
const started = process.cpuUsage();
const command = {
  program: process.execPath,
  args: [program, how],
  cwd: process.cwd(),
  env: { PATH: process.env.PATH ?? '' },
};
const acp = await AcpProgram.start(command, async () => undefined);
const came = await acp.turn('go', undefined, ctx as never).then(wordsOf, (error: Error) => `failed: ${error.message}`);
const { user, system } = process.cpuUsage(started);
const took = Math.round((user + system) / 1_000);
const more = Math.round((Math.max(resident, process.memoryUsage().rss) - before) / MIB);
process.stdout.write(JSON.stringify({ came: came.slice(0, 300), more, longestTurn: Math.round(longestTurn), took }));
acp.stop();
setTimeout(() => process.exit(0), 200);

function wordsOf(answer: unknown): string {
  const { error, parts, message } = answer as { error?: Error; parts?: readonly unknown[]; message?: string };
  if (parts !== undefined) return `ok: ${String(parts[0])}`;
  if (isToolError(answer)) return `refused: ${message}`;
  return `unknown: ${error?.message ?? message}`;
}
