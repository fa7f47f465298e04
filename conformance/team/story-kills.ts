/** Kills the process of a small team at each of its appends: whatever it dies of, the next process comes to the same end. */
import path from 'node:path';
import { inFolder, programIn, run } from './run.js';
import type { Said } from './run-workflow.js';

interface Told {
  readonly appends: number;
  readonly seen: { readonly status: string; readonly unverified: number; readonly slots: number };
}

/**
 * Kills one process at each append, just after what is appended is there; with `before`, just before as well.
 *
 * @param step from one append to the next at which a process is killed
 */
export async function killStory(sides: readonly ('before' | 'after')[] = ['after'], step = 1): Promise<Said> {
  return inFolder(async (folder) => {
    const program = await programIn(folder, 'story');
    const clean = await told([program, path.join(folder, 'clean.db')]);
    const isClean = clean.seen.status === 'done' && clean.seen.unverified === 0 && clean.seen.slots === 0;
    const expected = JSON.stringify(clean.seen);
    const failures: string[] = [];
    let [alike, kills] = [0, 0];
    for (const side of sides)
      for (let at = 1; at <= clean.appends; at += step) {
        kills++;
        const file = path.join(folder, `${side}-${at}.db`);
        const { said } = await run([program, file, String(at), side]);
        const end = said === undefined ? JSON.stringify((await told([program, file])).seen) : 'it was not killed';
        if (end === expected) alike++;
        else failures.push(`killed ${side} append ${at}: ${end}`);
      }
    return {
      lines: [`${alike}/${kills} kills end alike, each world verified: ${expected}`, ...failures],
      isRight: isClean && kills > 3 && failures.length === 0,
    };
  });
}

/** What a process that nobody kills tells in the end. */
async function told(argv: readonly string[]): Promise<Told> {
  const { said, out } = await run(argv);
  if (said === undefined) throw new Error(`the program did not come to its end: ${out}`);
  return said as Told;
}
