/** Actors who decide about one item at once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { type AgentWorld, type Decided, SESSION_REDUCER } from '../../src/index.js';
import { anyRace, type Mutant, playRace } from './race.js';

const RACES = 60 / stepOf(3);
const COMMAND = 'npx tsx --conditions=@reprise/source scripts/long/decisions.ts';

/** Ways to be wrong that looked right. */
const MUTANTS: readonly (readonly [name: string, mutant: Mutant, found: RegExp])[] = [
  ['an answer that tells everybody "applied"', async () => ({ status: 'applied' }), /were told "applied"/],
  ['an answer that does not tell who won', async (_world, { status }) => ({ status }), /was not told that \d won/],
  ['a reason that is sent apart from its decision', sentApart, /the model read word \d/],
];

async function sentApart(world: AgentWorld, decided: Decided, words: string): Promise<Decided> {
  await world.kernel
    .request([SESSION_REDUCER, 's'], {
      name: 'aos.agent/HostCommand@1',
      value: {
        command_id: `note-${words}`,
        command: {
          type: 'Steer',
          parts: [{ kind: 'text', text_ref: await world.kernel.content.put(bytesOf(words)) }],
        },
      },
    })
    .catch(() => undefined);
  return decided;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe('actors who decide at once', () => {
  it(`of two, three and five actors exactly one decides, each other is told who, and the model reads no word of theirs, seed ${SEED} [ASK-14]`, async () => {
    const counts = { applied: 0, already_settled: 0, stale: 0, changed: 0, deaths: 0 };
    const kept = fc.asyncProperty(anyRace, async (race) => {
      const { told, died } = await playRace(race);
      for (const status of told) counts[status]++;
      if (died) counts.deaths++;
    });
    await hold(kept, { numRuns: RACES, command: `${COMMAND} --schedules ${RACES}` });
    expect(counts.stale + counts.changed).toBe(0);
    expect(Math.min(counts.already_settled, counts.deaths)).toBeGreaterThan(5);
  });

  it.each(MUTANTS)('mutant: the law finds %s', async (_name, mutant, said) => {
    const found = await fc.check(
      fc.asyncProperty(anyRace, async (race) => void (await playRace(race, mutant))),
      { seed: SEED, numRuns: RACES, endOnFailure: true },
    );
    expect(found.failed).toBe(true);
    expect(String(found.errorInstance)).toMatch(said);
  });
});
