/**
 * Random shell programs that print in every way, run as a tool of a world on disk, and the checks that hold for each:
 * an answer in time, of bounded size, with the program's real end, in bounded memory.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineAgent, FAMILY_POLICIES, type Tool } from '@reprise/agent';
import { wellFormed } from '@reprise/contracts';
import { sqlite } from '@reprise/store-sqlite';
import fc from 'fast-check';
import { openWorld } from '../../../reprise/src/index.js';
import { script } from '../../../reprise/src/testing/testing.js';
import { processes } from '../../src/index.js';

const MIB = 1024 * 1024;

/**
 * The longest time of a program, in seconds, and of a call beyond it: killing it, reading its rest, and a machine that
 * stands still. What a program leaves behind lasts longer than both.
 */
const PROGRAM_S = 1;
const BEYOND_S = 30;

/** How often a program is run that was killed and should have ended before: the machine may have stood still. */
const TRIES = 3;

/** The memory that one call may take on top, in bytes. */
const MEMORY_MAX = 128 * MIB;

/** A random program, and how its answer must end. */
export interface Program {
  readonly command: string;
  readonly end: RegExp;
}

const LATE = '(; a process that it left behind prints on)?';

const amount = fc.constantFrom(0, 1, 7, 4_095, 65_537, 300_000, 3_000_000);
const print = fc
  .tuple(fc.constantFrom('zeros', 'noise', 'one line', 'lines', 'half a character'), amount, fc.boolean())
  .map(([what, bytes, isError]) => {
    const source: Readonly<Record<string, string>> = {
      zeros: `head -c ${bytes} /dev/zero`,
      noise: `head -c ${bytes} /dev/urandom`,
      'one line': `head -c ${bytes} /dev/zero | tr '\\0' x`,
      lines: `yes 'made 漢字 🎉' | head -c ${bytes}`,
      'half a character': "printf 'a\\360\\237'",
    };
    return `${source[what]}${isError ? ' >&2' : ''}`;
  });

/** Processes that stay in the group, or leave it; `timeout` ends those that nobody else does, and no sooner than a call may take. */
const beside = fc.constantFrom(
  '(sleep 0.2; echo late) &',
  'yes out & yes err >&2 & sleep 0.1',
  '(while :; do printf x; done) & sleep 0.05',
  "setsid timeout 40 yes 'left behind' </dev/null & sleep 0.2",
  "setsid timeout 40 sh -c 'while :; do echo drip; sleep 0.1; done' & sleep 0.2",
  'setsid timeout 40 sleep 39 & sleep 0.2',
  "setsid timeout 40 sh -c 'sleep 0.4; head -c 200000 /dev/zero' & sleep 0.2",
);

const KILLED = /The tool run_shell failed: it ran longer than 1 s and was killed$/;
const END = fc.constantFrom<Program>(
  { command: 'exit 0', end: new RegExp(`\\[exit 0${LATE}\\]$`) },
  { command: 'exit 3', end: new RegExp(`\\[exit 3${LATE}\\]$`) },
  { command: 'kill -9 $$', end: new RegExp(`\\[ended by SIGKILL${LATE}\\]$`) },
  { command: 'exec >&- 2>&-; sleep 0.2; exit 1', end: new RegExp(`\\[exit 1${LATE}\\]$`) },
  { command: 'yes', end: KILLED },
  { command: "trap '' TERM; while :; do printf x; sleep 0.01; done", end: KILLED },
  { command: 'sleep 30', end: KILLED },
);

/** A random program. */
export const anyProgram: fc.Arbitrary<Program> = fc
  .tuple(
    fc.array(fc.oneof({ weight: 3, arbitrary: print }, { weight: 2, arbitrary: beside }), { maxLength: 4 }),
    fc.constantFrom('', 'sleep 0.05'),
    END,
  )
  .map(([steps, pause, { command, end }]) => ({ command: [...steps, pause, command].filter(Boolean).join('\n'), end }));

/** The tool of this package, for the shell programs above. */
export function shellTool(root: string): Tool {
  const tools = processes({ root, shell: true, approval: 'never', timeout: `${PROGRAM_S}s` });
  const tool = tools.find(({ name }) => name === 'run_shell');
  if (tool === undefined) throw new Error('there is no shell');
  return tool;
}

/** Runs a program in a world of its own. @param beyondS how long the call may take beyond its program; @returns the checks that failed */
export async function faultsOf(program: Program, toolOf = shellTool, beyondS = BEYOND_S): Promise<string[]> {
  for (let tries = 1; ; tries++) {
    const { told, faults } = await run(program, toolOf, (PROGRAM_S + beyondS) * 1_000);
    if (faults.length === 0 || tries === TRIES || !KILLED.test(told) || program.end.test(told)) return faults;
  }
}

/** Runs a program once. */
async function run(
  program: Program,
  toolOf: (root: string) => Tool,
  longestMs: number,
): Promise<{ readonly told: string; readonly faults: string[] }> {
  const root = mkdtempSync(path.join(tmpdir(), 'reprise-programs-'));
  const agent = defineAgent({ name: 'a', model: 'main', instructions: 'Act.', tools: [toolOf(root)] });
  const model = script({ calls: [{ tool: 'run_shell', args: { command: program.command } }] }, { text: 'Done.' });
  const atStart = process.memoryUsage.rss();
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() - atStart);
  }, 10);
  const world = await openWorld({ store: sqlite(path.join(root, 'w.db')), models: { main: model }, agents: [agent] });
  try {
    const run = await world.session('s', agent).send('Go');
    const limit = new Promise<'late'>((resolve) => setTimeout(resolve, longestMs, 'late').unref());
    if ((await Promise.race([run.result(), limit])) === 'late') return { told: '', faults: ['no answer in time'] };
    const told = String((model.requests.at(-1)?.messages.at(-1) as { text?: unknown } | undefined)?.text);
    const isBinary = told.startsWith('[binary output: ');
    const rules: readonly (readonly [boolean, string])[] = [
      [isBinary || program.end.test(told), `its end is not told: …${told.slice(-120)}`],
      [Buffer.byteLength(told) <= (FAMILY_POLICIES.process?.bytesMax ?? 0), 'the model gets too much'],
      [wellFormed(told) === told, 'the text is not well-formed'],
      [most < MEMORY_MAX, `it took ${Math.round(most / MIB)} MiB`],
    ];
    return { told, faults: rules.filter(([holds]) => !holds).map(([, fault]) => fault) };
  } finally {
    clearInterval(watch);
    await world.close();
    rmSync(root, { recursive: true, force: true });
  }
}
