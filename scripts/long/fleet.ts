/**
 * Long form: worlds that several machines take over from each other while writes fail and answers are lost, in memory and in
 * files. No payment happens twice, nothing that was acknowledged is lost unnoticed, and no input is quarantined: nobody dies.
 *
 *   npx tsx --conditions=@reprise/source scripts/long/fleet.ts [--runs 10000] [--files 0] [--from 1] [--seconds 900]
 *
 * `--files` of the runs store their frames in SQLite files. It ends early after so many seconds, and says how many runs it made.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sqlite } from '@reprise/store-sqlite';
import { formatFailure, type SimulationSubject, simulate } from '@reprise/testkit/simulator';
import { fleetSubject } from '../../packages/testkit/test/simulator/subjects/fleet-subject.js';

/** Trouble in which no process dies. */
const NOBODY_DIES: NonNullable<Parameters<typeof simulate>[1]['troubles']> = [
  ...(['lost leases', 'second openers', 'failing disk', 'lost answers'] as const),
  ...(['closes', 'stops', 'clock jumps'] as const),
];

/** What each run is about, by the names of its states. */
const COUNTED = {
  takeovers: 'a second writer was let in, and the lease of the first was over',
  fenced: 'a writer without its lease was fenced',
  fell_back: 'a store that fell back was refused',
  failed_appends: 'an append failed',
  lost_answers: 'the answer of an append was lost',
  repeated: 'the same request was asked again and found',
} as const;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000' },
    files: { type: 'string', default: '0' },
    from: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '900' },
  },
});
const [runs, files, from, seconds] = [values.runs, values.files, values.from, values.seconds].map(Number) as [
  number,
  number,
  number,
  number,
];
const until = performance.now() + seconds * 1_000;
const folder = mkdtempSync(path.join(tmpdir(), 'reprise-fleet-'));
try {
  let n = 0;
  const inFiles = fleetSubject({ store: () => sqlite(path.join(folder, `${n++}.db`)) });
  await play('files', inFiles, files);
  await play('memory', fleetSubject(), runs - files);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Plays runs, and prints what they came to. */
async function play(where: string, subject: SimulationSubject, count: number): Promise<void> {
  const sum: Record<string, number> = { runs: 0, frames: 0, effects: 0, quarantined: 0 };
  for (let seed = from; seed < from + count && performance.now() < until; seed++) {
    const report = await simulate(subject, { seeds: 1, from: seed, troubles: NOBODY_DIES });
    for (const figure of ['runs', 'frames', 'effects'] as const) add(sum, figure, report[figure]);
    add(sum, 'quarantined', report.sometimes.met.get('an input was quarantined') ?? 0);
    for (const [name, what] of Object.entries(COUNTED)) add(sum, name, report.sometimes.met.get(what) ?? 0);
    if (report.failure === undefined) continue;
    console.error(
      formatFailure(
        report.failure,
        `npx tsx --conditions=@reprise/source scripts/long/fleet.ts --runs 1 --from ${seed}`,
      ),
    );
    process.exitCode = 1;
    return;
  }
  console.log(JSON.stringify({ where, broken_promises: 0, ...sum }));
  if (sum.quarantined !== 0) process.exitCode = 1;
}

function add(sum: Record<string, number>, name: string, more: number): void {
  sum[name] = (sum[name] ?? 0) + more;
}
