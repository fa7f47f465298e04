/** Kills the owner of the workflow at random moments, and looks at what becomes of it. */
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { randomFrom } from '../random.js';
import { modelServer } from './model-server.js';
import { inFolder, programIn, run } from './run.js';
import { isWhole, type Said } from './run-workflow.js';
import type { Seen } from './seen.js';
import { decide, SKILLS, writeSkill } from './workflow.js';

/** How often one project is killed. */
const KILLS_EACH = 5;

/**
 * The time in which an owner is killed: as long as a project takes. Each owner must come some way, since an input that two
 * processes in turn did not survive is put aside, by design.
 */
const KILLED_WITHIN_MS = 2_500;

/** Kills owners so often in all. A failure names its project, counted from 0. */
export async function killOwners(kills: number, seed: number): Promise<Said> {
  const random = randomFrom(seed);
  return inFolder(async (folder) => {
    const server = await modelServer(async (asked) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return decide(asked);
    });
    const skills = path.join(folder, 'skills');
    for (const skill of SKILLS) writeSkill(skills, skill);
    const program = await programIn(folder, 'owner');
    const failures: string[] = [];
    let killed = 0;
    let whole = 0;
    let last: Seen | undefined;
    try {
      for (let n = 0; killed < kills; n++) {
        const file = path.join(folder, `${n}.db`);
        const argv = [program, file, skills, server.url];
        const before = killed;
        let said: unknown;
        for (let i = 0; said === undefined; i++) {
          const isKilled = i < KILLS_EACH && killed < kills;
          ({ said } = await run(argv, isKilled ? random() * KILLED_WITHIN_MS : undefined));
          if (said === undefined) killed++;
        }
        last = said as Seen;
        if (isWhole(last) && runsOnce(last)) whole += killed - before;
        else failures.push(`project ${n}: ${JSON.stringify(last)}`);
        for (const suffix of ['', '-wal', '-shm']) if (existsSync(file + suffix)) rmSync(file + suffix);
      }
    } finally {
      server.stop();
    }
    const { results = [], tasks = [], memories = 0, free = 0 } = last ?? {};
    const processed = results.filter((one) => one.processed).length;
    const numbers = `results ${results.length}, processed ${processed}, plan rows ${tasks.length}, memories ${memories}, slots free ${free}`;
    return { lines: [`${whole}/${killed}: ${numbers}`, ...failures], isRight: failures.length === 0 };
  });
}

/** Whether each result was made by one session of its own. */
function runsOnce({ results }: Seen): boolean {
  return new Set(results.map(({ session }) => session)).size === results.length;
}
