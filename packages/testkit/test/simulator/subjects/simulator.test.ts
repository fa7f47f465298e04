/** The fault simulator in its short form, and the bugs that it has to find. The long form: `npm run simulate`. */

import { formatFailure, simulate } from '@reprise/testkit/simulator';
import { describe, expect, it } from 'vitest';
import { everyNth, stepOf } from '../../../../../conformance/part.js';
import { Choices } from '../../../src/simulator/choices.js';
import { runSimulation } from '../../../src/simulator/simulation.js';
import { hunt, PLANTED } from './planted.js';
import { SUBJECTS } from './subjects.js';

/** Found by their seeds in the long form too. */
const SEEDS = 20 / stepOf(10);

describe.each(SUBJECTS)('simulator: $name', (subject) => {
  it(`the subject keeps every promise through crashes, stops, full and failing disks [JRN-11, EFF-2, EFF-3, EFF-13, EFF-14] (seeds 1 to ${SEEDS})`, async () => {
    const { failure } = await simulate(subject, { seeds: SEEDS });
    const command = `npm run simulate -- --subject ${subject.name} --from ${failure?.seed} --seeds 1`;
    expect(failure && formatFailure(failure, command)).toBeUndefined();
  });

  it('a simulation with the same seed writes the same journal (seed 11)', async () => {
    const run = async () => runSimulation(subject, Choices.from(11));
    await run(); // loads what is loaded by its first use, which takes turns of its own
    const [one, other] = [await run(), await run()];
    expect([one.head, one.log]).toEqual([other.head, other.log]);
    expect(one.frames).toBeGreaterThan(1);
  });
});

describe('simulator: a planted bug', () => {
  it.each(everyNth(12, PLANTED))('mutant: $name is found within 1,000 runs', async (bug) => {
    const { found, runs } = await hunt(bug, { seeds: 1_000 });
    expect(found, `nothing was found in ${runs} runs`).toBeDefined();
    expect(found?.why).toMatch(bug.told);
  });

  it('a planted bug whose place in the source has changed is reported', async () => {
    const moved = { ...(PLANTED[0] as (typeof PLANTED)[number]), find: 'no such text' };
    await expect(hunt(moved, { seeds: 1 })).rejects.toThrow(/stands 0 times/);
  });
});
