/** Trust: verdicts of observers, and what follows from them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentOf, openOffice, told, writeTo } from './support/crew.js';

const SEED = 20;

interface Score {
  readonly accuracy_ppm: number | null;
  readonly score_ppm: number;
  readonly observations: number;
  readonly window_start: number | null;
  readonly window_end: number | null;
  readonly last_updated: number;
  readonly tier: string;
}

/** The tier of a fraction, in exact arithmetic: the prior counts 13 right of 20. */
function tierOf(verdicts: readonly boolean[]): string {
  const last = verdicts.slice(-256);
  const [g, t] = [BigInt(13 + last.filter(Boolean).length), BigInt(20 + last.length)];
  if (10n * g < 3n * t) return 'untrusted';
  if (10n * g < 6n * t) return 'low';
  return 100n * g <= 85n * t ? 'medium' : 'high';
}

/** The commands of cells behind the last change of trust, in its frame. */
async function commandsOfVerdict({ kernel }: Awaited<ReturnType<typeof openOffice>>['world']): Promise<string[]> {
  let commands: string[] = [];
  for await (const { seq, records } of kernel.frames(0)) {
    const at = records.findIndex((record) => record.kind === 'fact' && record.name === 'society/TrustChanged@1');
    const after = records.slice(at).filter(({ kind }) => kind === 'cell_command');
    if (at >= 0) commands = after.map((record) => (record as unknown as { command: { name: string } }).command.name);
    if (seq >= kernel.head.seq) break;
  }
  return commands;
}

async function crewOf(people = ['ann', 'ben']) {
  const at = await openOffice(people);
  const crew = at.office.group('crew');
  await crew.open();
  for (const name of people) await crew.join(name);
  const [ann, ben] = [at.office.entity('ann'), at.office.entity('ben')];
  const bot = await agentOf(at.office, ann);
  await crew.join(bot.id);
  const assess = async (of: typeof ann, n: number, verdict: string, basis = 'user') =>
    (await told(of, 'memory_assess', { item_id: `group:crew#${n}`, verdict, basis })) as Score;
  return { ...at, at, ann, ben, bot, assess };
}

describe('trust', () => {
  it('trust is kept for each observer, and shows accuracy, observations, window and last update [SOC-23] [SOC-24]', async () => {
    const { at, world, ann, ben, bot, assess } = await crewOf();
    await using _ = world;
    for (const text of ['One.', 'Two.']) await writeTo(at, bot, 'crew', text);
    await assess(ann, 1, 'right');
    const score = await assess(ann, 2, 'wrong', 'temporal');
    expect(score).toMatchObject({ accuracy_ppm: 500_000, observations: 2, score_ppm: 636_364, tier: 'medium' });
    expect(score.window_start).toBeLessThanOrEqual(score.window_end as number);
    expect(score.last_updated).toBe(score.window_end);
    expect(await assess(ben, 1, 'wrong')).toMatchObject({ accuracy_ppm: 0, observations: 1 }); // ann's do not count
    expect(await assess(ann, 2, 'right')).toMatchObject({ accuracy_ppm: 1_000_000, observations: 2 }); // counted anew
    expect(await assess(ann, 2, 'retract')).toMatchObject({ observations: 1 });
    await world.verify();
  });

  it('an item is not judged by the author of an item, nor by those below it [SOC-25]', async () => {
    const { at, world, ann, ben, bot, assess } = await crewOf();
    await using _ = world;
    const below = await agentOf(at.office, bot);
    await at.office.group('crew').join(below.id);
    await writeTo(at, bot, 'crew', 'By the agent.');
    await writeTo(at, ann, 'crew', 'By the person.');
    expect(await assess(bot, 1, 'right')).toStrictEqual({ code: 'not_authorized', standing: 'self' });
    expect(await assess(below, 1, 'right')).toStrictEqual({ code: 'not_authorized', standing: 'below' });
    expect(await assess(bot, 2, 'right')).toStrictEqual({ code: 'not_authorized', standing: 'below' });
    expect(await assess(ann, 1, 'right')).toMatchObject({ observations: 1 });
    expect(await assess(ben, 2, 'right')).toMatchObject({ observations: 1 });
    const unfounded = await ann.answerTo('memory_assess', {
      item_id: 'group:crew#1',
      verdict: 'right',
      basis: 'hearsay' as 'user',
    });
    expect(unfounded.value).toMatchObject({ code: 'invalid_arguments' });
    await world.verify();
  });

  it('a verdict changes the rights of an agent in the frame of the verdict of its parent, along the tier [SOC-26] [SOC-27]', async () => {
    const { at, world, ann, ben, bot, assess } = await crewOf();
    await using _ = world;
    for (let n = 1; n <= 24; n++) await writeTo(at, bot, 'crew', `Item ${n}`);
    for (let n = 1; n <= 24; n++) await assess(ben, n, 'wrong'); // not the parent: nothing follows
    const write = async () => (await writeTo(at, bot, 'crew', 'More.')) as { error?: string };
    expect((await write()).error).toBeUndefined();
    expect(await assess(ann, 1, 'wrong')).toMatchObject({ tier: 'medium' });
    expect(await assess(ann, 2, 'wrong')).toMatchObject({ tier: 'low' }); // 13 of 22 is below 6/10
    expect((await write()).error).toBe('capability_denied');
    expect(await told(bot, 'memory_read_warm', { group: 'crew' })).toMatchObject({ error: 'capability_denied' });
    expect(await commandsOfVerdict(world)).toStrictEqual(['sys/SetRights@1']);
    await assess(ann, 2, 'right');
    expect((await write()).error).toBeUndefined();
    await world.verify();
  });

  it('the verdicts of the owner of a group count for its store, with those of the parent the lower, in their frame, whatever the parent promises [SOC-83] [SOC-27]', async () => {
    const { at, world, office, ann, ben, bot, assess } = await crewOf();
    await using _ = world;
    await office.group('crew').join('ben', 'owner');
    await office.group('other').open();
    await office.group('other').join(bot.id);
    for (let n = 1; n <= 3; n++) await writeTo(at, bot, 'crew', `Item ${n}`);
    const error = async (group: string) => ((await writeTo(at, bot, group, 'More.')) as { error?: string }).error;
    await assess(ben, 1, 'wrong');
    expect(await error('crew')).toBeUndefined();
    expect(await assess(ben, 2, 'wrong')).toMatchObject({ tier: 'low' });
    expect(await commandsOfVerdict(world)).toStrictEqual(['sys/SetRights@1']);
    expect([await error('crew'), await error('other')]).toStrictEqual(['capability_denied', undefined]);
    expect((await bot.state())?.tier).toBe('medium'); // ben is not its parent
    for (const n of [1, 2]) await assess(ann, n, 'right');
    expect(await error('crew')).toBe('capability_denied');
    await ann.capabilities(bot.id, { trustFloor: 'medium' });
    expect(await error('crew')).toBe('capability_denied'); // nobody outside the group promises trust inside it
    await ann.capabilities(bot.id, { trustFloor: 'untrusted' });
    await assess(ben, 2, 'right');
    expect(await error('crew')).toBeUndefined();
    await world.verify();
  });

  it(`trust gives the tier of an exact fraction after every verdict of random sequences, seed ${SEED} [SOC-26]`, async () => {
    const { at, world, ann, bot, assess } = await crewOf();
    await using _ = world;
    const ITEMS = 40;
    for (let n = 1; n <= ITEMS; n++) await writeTo(at, bot, 'crew', `Item ${n}`);
    const sequence = fc.array(fc.tuple(fc.integer({ min: 1, max: ITEMS }), fc.boolean()), {
      minLength: 60,
      maxLength: 60,
    });
    for (const verdicts of fc.sample(sequence, { seed: SEED, numRuns: 1 })) {
      const live = new Map<number, boolean>();
      for (const [item, right] of verdicts) {
        if (live.get(item) !== right) {
          live.delete(item);
          live.set(item, right);
        }
        const score = await assess(ann, item, right ? 'right' : 'wrong');
        expect([score.tier, score.observations]).toStrictEqual([tierOf([...live.values()]), live.size]);
      }
    }
    await world.verify();
  });
});
