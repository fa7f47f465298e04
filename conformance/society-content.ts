/**
 * Random societies whose members write, share, narrow, judge, suspend, fail and end, whose agents bring back what they found
 * elsewhere, lead swarms and live in forks: what each request to the model holds, and what inboxes, resources, searches and
 * reads answer, is compared with an oracle, word by word.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-content.ts [--worlds 300] [--seed N] [--keep-going] [--mutants [--only TEXT]]
 *
 * The long form has 10,000 worlds. With --keep-going it goes on after a world that disagrees, and names the seeds of all of
 * them in the end. A world is lived again, alone, by its seed: --worlds 1 --seed N. With --mutants it looks for the first
 * world that finds each mistake of `society/content/mutants.ts`, and plants them one after the other; with --only TEXT those
 * alone whose descriptions have a text.
 */
import { parseArgs } from 'node:util';
import { judgeContent } from './society/content/judge.js';
import { foundIn, MUTANTS } from './society/content/mutants.js';

const { values: options } = parseArgs({
  options: {
    worlds: { type: 'string', default: '300' },
    seed: { type: 'string', default: '36' },
    'keep-going': { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});
const asked = Number(options.worlds);
const from = Number(options.seed);

/** The first world that finds each mistake. */
async function findMutants(): Promise<boolean> {
  let isWhole = true;
  for (const mutant of MUTANTS.filter(({ what }) => what.includes(options.only))) {
    const said = await foundIn(mutant, asked, from);
    const [, seed] = /^seed (\d+): /.exec(said ?? '') ?? [];
    isWhole &&= seed !== undefined;
    console.log(`${seed ?? 'none'} ${mutant.what}: ${said?.split('\n')[0]}`);
  }
  return isWhole;
}

/** The worlds, and what was found. */
async function judgeWorlds(): Promise<boolean> {
  const EVERY = 500;
  const found = await judgeContent(asked, from, {
    keepGoing: options['keep-going'],
    onWorld: ({ worlds, disagreements, seeds }) => {
      if (worlds % EVERY === 0)
        console.error(`${worlds} worlds, ${disagreements} disagreements ${[...seeds.keys()].join(' ')}`);
    },
  });
  if (found.first !== undefined) console.error(found.first);
  const { requests, answers, shown, withheld, acts, refused, seeds } = found;
  for (const [act, times] of [...acts].sort(([, a], [, b]) => b - a))
    console.log(
      `${String(times).padStart(7)} ${act}${refused.has(act) ? `, ${refused.get(act)} of them refused` : ''}`,
    );
  console.log(`${requests} requests to the model, ${answers} answers; ${shown} words shown, ${withheld} not`);
  console.log(`${found.worlds} worlds from seed ${from}, ${found.disagreements} disagreements`);
  for (const [seed, what] of seeds) console.log(`--worlds 1 --seed ${seed}: ${what}`);
  return found.disagreements === 0 && found.worlds === asked;
}

process.exitCode = (await (options.mutants ? findMutants() : judgeWorlds())) ? 0 : 1;
