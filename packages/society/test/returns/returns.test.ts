/** Agents that come back with what they found elsewhere: proofs, divergence, conflicts, and targets that stay as they are. */
import { describe, expect, it } from 'vitest';
import { l1At } from '../../src/index.js';
import { comeBack, crewOf, openPlace, storeOfGroup } from '../support/comeback.js';

const ONE = [{ text: 'Bodies have at most 1 MiB.' }];

describe('an agent that comes back', () => {
  it('a return after 2, 4 and 7 sessions says how far it diverged, and leaves its targets as they are until they are approved [SOC-50] [SOC-52]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const before = await storeOfGroup(at);
    const seen = [];
    for (const sessions of [2, 4, 7, undefined]) {
      const { value } = await comeBack(at, ann, bot.id, { items: ONE, sessions });
      seen.push([value.divergence, value.merged, value.review]);
      expect(value.staging_group_id).toMatch(new RegExp(`^staging-${bot.id}-\\d+$`));
    }
    expect(seen).toEqual([
      [2, false, 'usual'],
      [4, false, 'usual'],
      [7, false, 'forced'],
      [null, false, 'forced'],
    ]);
    expect(await storeOfGroup(at)).toBe(before);
    const staged = await ann.staging(bot.id);
    expect(staged.map(({ content, group, divergence, author }) => [content, group, divergence, author])).toEqual(
      [2, 4, 7, null].map((divergence) => ['Bodies have at most 1 MiB.', 'crew', divergence, bot.id]),
    );
    const all = staged.map(({ item_id }) => item_id);
    const { copied, rejected, refused } = await ann.review(bot.id, { approve: all });
    expect([copied.length, rejected, refused]).toEqual([4, [], []]);
    expect(await ann.staging(bot.id)).toEqual([]);
    expect((await ann.memory.list('crew')).items.map(({ content }) => content)).toEqual(Array(4).fill(ONE[0]?.text));
    expect((await world.verify()).unverified).toBe(0);
  });

  it('a conflict is another content of the group about the same subject, and not the same words [SOC-50]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const note = { type: 'note', visibility: 'group', group: 'crew' } as const;
    await ann.memory.write({ ...note, content: 'The limit is 2 MiB.', subjectKey: 'limit' });
    await ann.memory.write({ ...note, content: 'Retries are three.', subjectKey: 'retries' });
    const items = [
      { text: 'The limit is 1 MiB.', subject_key: 'limit' },
      { text: 'Retries are three.', subject_key: 'retries' },
      { text: 'Without a subject.' },
    ];
    const { value } = await comeBack(at, ann, bot.id, { items, sessions: 1 });
    const [, n] = /-(\d+)$/.exec(value.staging_group_id) ?? [];
    const item = `staging:${bot.id}.${n}#1`;
    expect(value.conflicts).toEqual([{ item, with: 'group:crew#1', subject_key: 'limit' }]);
    const page = await ann.use('memory_read_warm', { group: value.staging_group_id });
    expect(page).toMatchObject({ divergence: 1, review: 'usual', items: [{ conflicts_with: 'group:crew#1' }, {}, {}] });
    await world.verify();
  });

  it('an agent that may not read a group hears of no conflict there, and its parent sees it [SOC-96]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const note = { type: 'note', visibility: 'group', group: 'crew' } as const;
    await ann.memory.write({ ...note, content: 'The limit is 2 MiB.', subjectKey: 'limit' });
    const memory_read = { layers: ['l1', 'l2'], groups: [], visibility: ['private', 'public'] } as never;
    await ann.capabilities(bot.id, { capabilities: { memory_read } });
    const items = [{ text: 'The limit is 1 MiB.', subject_key: 'limit' }];
    const { value } = await comeBack(at, ann, bot.id, { items, sessions: 1 });
    expect(value.conflicts).toEqual([]);
    expect((await ann.staging(bot.id)).map(({ conflicts_with }) => conflicts_with)).toEqual(['group:crew#1']);
    await world.verify();
  });

  it('a return that is not signed by the key of the agent, for this world and challenge, over these items, stages nothing [SOC-49]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const other = await ann.register({ agentType: 'custom', displayName: 'Other', capabilities: {} });
    const changes: readonly NonNullable<Parameters<typeof comeBack>[3]['instead']>[] = [
      (one) => ({ ...one, world: 'e'.repeat(64) }),
      (one) => ({ ...one, agent: other.agent_id }),
      (one) => ({ ...one, nonce: 'another' }),
      (one) => ({ ...one, purpose: 'api' }),
      (one) => ({ ...one, hash: 'd'.repeat(64) }),
      (one) => ({ ...one, count: 99 }),
      (one) => ({ ...one, base: 'd'.repeat(64) }),
      (one) => ({ ...one, items: [] }),
      (one) => ({ ...one, items: one.items?.map((item) => ({ ...item, store: 'group:other' })) }),
      (one) => ({ ...one, items: one.items?.map((item) => ({ ...item, content: 'c'.repeat(64) })) }),
    ];
    for (const instead of changes) {
      await ann.setStatus(bot.id, 'activate').catch(() => undefined);
      const { value } = await comeBack(at, ann, bot.id, { items: ONE, sessions: 1, instead });
      expect([value.code, value.cause]).toEqual(['signature_invalid', 'signature_invalid']);
    }
    const { value } = await comeBack(at, ann, bot.id, { items: ONE, sessions: 1, signer: other.agent_id });
    expect(value.code).toBe('signature_invalid');
    expect(await ann.staging(bot.id)).toEqual([]);
    await world.verify();
  });

  it('a challenge serves one return, for 60 seconds, and only one that was drawn for returns [SOC-49]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const { nonce } = await ann.challenge(bot.id, 'return');
    expect((await comeBack(at, ann, bot.id, { items: ONE, sessions: 1, nonce })).is_error).toBe(false);
    const again = await comeBack(at, ann, bot.id, { items: ONE, sessions: 1, nonce });
    const meanwhile = () => at.clock.advance(60_000);
    const late = await comeBack(at, ann, bot.id, { items: ONE, sessions: 1, meanwhile });
    const { nonce: forApi } = await ann.challenge(bot.id, 'api');
    const strange = await comeBack(at, ann, bot.id, { items: ONE, sessions: 1, nonce: forApi });
    expect([again, late, strange].map(({ value }) => value.code)).toEqual(Array(3).fill('challenge_expired'));
    expect(await ann.staging(bot.id)).toHaveLength(1);
    await world.verify();
  });

  it('an agent that was deactivated or suspended meanwhile brings nothing back, and another entity brings nothing for it [SOC-49]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const ben = await at.office.human('ben');
    expect((await comeBack(at, ann, bot.id, { items: ONE, sessions: 1, caller: ben })).value.code).toBe(
      'agent_unknown',
    );
    await ann.setStatus(bot.id, 'activate').catch(() => undefined);
    for (const status of ['suspend', 'deactivate'] as const) {
      const { nonce } = await ann.challenge(bot.id, 'return');
      await ann.setStatus(bot.id, status);
      const { value } = await comeBack(at, ann, bot.id, { items: ONE, sessions: 1, nonce });
      expect(value.code).toBe('agent_not_active');
      if (status === 'suspend') await ann.setStatus(bot.id, 'resume');
    }
    expect(await ann.staging(bot.id)).toEqual([]);
    await world.verify();
  });

  it('what the parent has taken over is the base of the next return, and its hot context says so last [SOC-52]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const synced = async () =>
      ((await world.kernel.state(l1At(bot.id))) as { synced: { count: number } | null }).synced;
    await comeBack(at, ann, bot.id, { items: ONE, sessions: 3 });
    expect(await synced()).toBeNull();
    await ann.review(bot.id, { approve: 'all' });
    expect(await synced()).toMatchObject({ count: 3 });
    let facts: string[] = [];
    for await (const { seq, records } of world.kernel.frames(0)) {
      facts = [...facts, ...records.flatMap((record) => (record.kind === 'fact' ? [record.name] : []))];
      if (seq >= world.kernel.head.seq) break;
    }
    expect(facts.lastIndexOf('society/L1Changed@1')).toBeGreaterThan(facts.lastIndexOf('society/Merged@1'));
    await world.verify();
  });
});
