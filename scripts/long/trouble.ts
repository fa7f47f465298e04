/**
 * Nothing fails in silence: each fault at every operation of the disk, every model call and every reading of the clock of a
 * turn of a session, a tree, a team and a swarm.
 *
 *   npx tsx --conditions=@reprise/source scripts/long/trouble.ts [--stage NAME] [--every N] [--processes N] [--out FILE]
 *
 * `--every 3` plays every third place. A killed process is one, killed by `kill -9` at each operation of its disk; the next
 * one goes on. `reprise trouble` is run as a process for the first `--processes` places of each row, 1 by default, and for
 * the others in this one. Prints a table, in Markdown: for each stage and fault what `onError`,
 * `world.trouble()`, the run, the command, standard error and the caller of the work were told, and the longest silence. Exits
 * with 1 when a fault was silent for longer than two seconds, or the command knew nothing of what `world.trouble()` listed. A fault that was silent beside others, on a loop that they share, is
 * played again alone, three times; both figures are printed.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  FAULTS,
  type Fault,
  placesFor,
  placesOf,
  played,
  SILENCE_MAX_MS,
  type Trial,
} from '../../packages/reprise/test/trouble/play.js';
import { STAGES } from '../../packages/reprise/test/trouble/stages.js';

/** How many are played at once: they wait, and need little of the machine. */
const AT_ONCE = 12;

const { values: options } = parseArgs({
  options: {
    stage: { type: 'string' },
    every: { type: 'string', default: '1' },
    processes: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
const [every, processes] = [Number(options.every), Number(options.processes)];
const stages = options.stage === undefined ? Object.keys(STAGES) : [options.stage];

/** The codes of some trials, each once, the most frequent first. */
function codes(trials: readonly Trial[], of: (trial: Trial) => readonly string[]): string {
  const counts = new Map<string, number>();
  for (const trial of trials) for (const code of new Set(of(trial))) counts.set(code, (counts.get(code) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 4);
  return sorted.length === 0 ? '–' : sorted.map(([code, count]) => `${code} ${count}`).join(', ');
}

/** Whether nobody was told for too long; or a person at another terminal was not told what the process knew. */
function isSilent({ silentMs, unlisted }: Trial): boolean {
  return silentMs > SILENCE_MAX_MS || unlisted;
}

/** The code of a line on standard error. */
function codeOfLine(line: string): string {
  return /\[([a-z_/]+)\]/.exec(line)?.[1] ?? 'a line';
}

async function playAll(stage: string, fault: Fault, count: number): Promise<readonly Trial[]> {
  const trials: Trial[] = [];
  const places = Array.from({ length: count }, (_, i) => i + 1).filter((place) => (place - 1) % every === 0);
  const worker = async (): Promise<void> => {
    for (let place = places.shift(); place !== undefined; place = places.shift())
      trials.push(await played(stage, fault, place, place <= processes * every ? 'process' : 'here'));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return trials;
}

const rows: string[] = [];
const suspected: Trial[] = [];
const silent: Trial[] = [];
for (const stage of stages) {
  const places = await placesOf(stage);
  for (const fault of FAULTS) {
    if (placesFor(fault, places) === 0) {
      rows.push(`| ${stage} | ${fault} | cannot happen: a ${stage} has no such server | – | – | – | – | – | – | – |`);
      continue;
    }
    const trials = await playAll(stage, fault, placesFor(fault, places));
    const met = trials.filter((trial) => trial.met);
    suspected.push(...met.filter(isSilent));
    const cells = [
      ...[stage, fault, `${met.length} of ${trials.length}`],
      codes(met, ({ onError }) => onError),
      codes(met, ({ trouble }) => trouble),
      codes(met, ({ run }) => run),
      codes(met, ({ command }) =>
        command.codes.length === 0 ? ['nothing (0)'] : command.codes.map((code) => `${code} (${command.code})`),
      ),
      codes(met, ({ stderr }) => stderr.map(codeOfLine)),
      codes(met, ({ work }) => [work ?? 'waits']),
      `${Math.max(0, ...met.map(({ silentMs }) => silentMs))} ms`,
    ];
    rows.push(`| ${cells.join(' | ')} |`);
    console.error(rows.at(-1));
  }
}

for (const { stage, fault, place } of suspected) {
  for (let again = 0; again < 3; again++) {
    const trial = await played(stage, fault, place);
    if (isSilent(trial)) silent.push(trial);
  }
}

const table = [
  '| at work | what fails | met at places | onError | trouble() | the run | `reprise trouble` (exit code) | standard error | the caller | longest silence |',
  '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
  ...rows,
  '',
  `Silent for more than ${SILENCE_MAX_MS / 1_000} s: ${silent.length}; beside others: ${suspected.length}.`,
].join('\n');
if (options.out !== undefined) writeFileSync(options.out, `${table}\n`);
console.log(table);
for (const trial of silent) console.error(JSON.stringify(trial));
process.exit(silent.length === 0 ? 0 : 1);
