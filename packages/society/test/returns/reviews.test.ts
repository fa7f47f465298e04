/** What a parent decides on what its agent brought back: approved, in part, rejected, with its rights of that moment. */
import { describe, expect, it } from 'vitest';
import { mergesAlone, type ReturnTerms } from '../../src/pure/compile/automatic.js';
import { comeBack, crewOf, openPlace, type Place, storeOfGroup } from '../support/comeback.js';

const THREE = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.', confidence: 0.2 }];

async function arrived(more: Parameters<typeof crewOf>[1] = {}) {
  const at = await openPlace();
  const crew = await crewOf(at, more);
  const { value } = await comeBack(at, crew.ann, crew.bot.id, { items: THREE, sessions: 1 });
  const [, n] = /-(\d+)$/.exec(value.staging_group_id) ?? [];
  const item = (k: number) => `staging:${crew.bot.id}.${n}#${k}`;
  return { at, ...crew, staging: value.staging_group_id, item };
}

/** The first words of what the group's store holds, and its state. */
async function wordsOf({ world, office }: Place): Promise<unknown[]> {
  const ann = office.entity('ann');
  const rows = await world.kernel.table(['memory/Store@1', 'group:crew'], 'items', {});
  const items = await Promise.all(rows.map(([key]) => ann.memory.read(`group:crew#${Number(key)}`)));
  return items.map(({ content, state }) => [content, state]);
}

describe('a review', () => {
  it('given a rejection, when the parent decides, then its targets are byte for byte as they were and the store has ended [SOC-52]', async () => {
    const { at, ann, bot, staging, item } = await arrived();
    await using world = at.world;
    const before = await storeOfGroup(at);
    const report = await ann.review(bot.id, { reject: true });
    expect(report).toEqual({ copied: [], rejected: [item(1), item(2), item(3)], refused: [] });
    expect(await storeOfGroup(at)).toBe(before);
    expect(await ann.staging(bot.id)).toEqual([]);
    await expect(ann.use('memory_read_warm', { group: staging })).rejects.toThrow('capability_denied');
    expect(await bot.use('memory_read_warm', { group: staging })).toMatchObject({ items: [] });
    const again = ann.use('staging_review', { staging_group_id: staging, decision: 'approve' });
    await expect(again).rejects.toThrow('staging_unknown');
    const store = await world.kernel.table(['memory/Store@1', item(1).slice(0, -2)], 'items', {});
    const refs = store.map(([, row]) => (row as { content_ref?: unknown }).content_ref) as never[];
    expect((await world.kernel.erase({ refs }, { id: 'gone' })).erased).toBe(3);
    await world.verify();
  });

  it('given a decision for some, when the parent names them, then these are written and the others rejected [SOC-52]', async () => {
    const { at, ann, bot, item, staging } = await arrived();
    await using world = at.world;
    for (const items of [[item(9)], ['group:crew#1'], undefined]) {
      const wrong = {
        staging_group_id: staging,
        decision: 'partial' as const,
        ...(items === undefined ? {} : { items }),
      };
      await expect(ann.use('staging_review', wrong)).rejects.toThrow(
        items === undefined ? 'items_with' : 'item_unknown',
      );
    }
    const report = await ann.review(bot.id, { approve: [item(3), item(1)] });
    expect(report).toEqual({ copied: ['group:crew#1', 'group:crew#2'], rejected: [item(2)], refused: [] });
    expect(await wordsOf(at)).toEqual([
      ['One.', 'live'],
      ['Three.', 'quarantined'], // a confidence below 0.3
    ]);
    await expect(ann.review(bot.id, { approve: 'all' })).rejects.toMatchObject({
      details: { reason: 'staging_unknown' },
    });
    await world.verify();
  });

  it('given an emergency or a lost membership, when the parent approves, then its rights of that moment count and all stays staged [SOC-52]', async () => {
    const { at, ann, bot, crew } = await arrived();
    await using world = at.world;
    const before = await storeOfGroup(at);
    await ann.use('group_emcon', { group_id: 'crew', on: true });
    await expect(ann.review(bot.id, { approve: 'all' })).rejects.toMatchObject({ details: { reason: 'emcon' } });
    await ann.use('group_emcon', { group_id: 'crew', on: false });
    await crew.join('ann', 'viewer');
    const denied = { details: { reason: 'capability_denied' } };
    await expect(ann.review(bot.id, { approve: 'all' })).rejects.toMatchObject(denied);
    expect(await storeOfGroup(at)).toBe(before);
    expect(await ann.staging(bot.id)).toHaveLength(3);
    await crew.join('ann', 'owner');
    expect((await ann.review(bot.id, { approve: 'all' })).copied).toHaveLength(3);
    await world.verify();
  });

  it('given a parent that is an agent, when its rights are narrowed after the return, then the gate refuses what it approves [SOC-52]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot, crew } = await crewOf(at);
    const { agent_id } = await bot.register({ agentType: 'custom', displayName: 'Below', capabilities: {} });
    await crew.join(agent_id);
    await comeBack(at, bot, agent_id, { items: THREE, sessions: 1 });
    expect(await bot.staging(agent_id)).toHaveLength(3);
    const none = { layers: ['l1', 'l2'], groups: [], visibility: ['private', 'group'] } as never;
    await ann.capabilities(bot.id, { capabilities: { memory_write: none } });
    const denied = { details: { reason: 'capability_denied' } };
    await expect(bot.review(agent_id, { approve: 'all' })).rejects.toMatchObject(denied);
    expect(await wordsOf(at)).toEqual([]);
    await ann.capabilities(bot.id, { capabilities: { memory_write: null } });
    expect((await bot.review(agent_id, { approve: 'all' })).copied).toHaveLength(3);
    await world.verify();
  });

  it('given what an agent brought back, when agent and parent try every way to write there, then the staging store stays as it is [SOC-51]', async () => {
    const { at, ann, bot, staging, item } = await arrived();
    await using world = at.world;
    const scope = item(1).slice(0, -2);
    const items = async () =>
      (await world.kernel.table(['memory/Store@1', scope], 'items', {})).map(([, row]) => [
        (row as { state?: unknown }).state,
        (row as { content_ref?: unknown }).content_ref,
      ]);
    const before = JSON.stringify(await items());
    const note = { type: 'note', content: 'Mine.', visibility: 'group' } as const;
    await ann.memory.write({ ...note, group: 'crew' });
    for (const entity of [ann, bot]) {
      const tries: [string, object][] = [
        ['memory_write_warm', { ...note, group: staging }],
        ['memory_write_warm', { ...note, group: 'crew', supersedes: item(1) }],
        ['memory_write_warm', { ...note, store: 'notes', supersedes: item(1) }],
        ['memory_share', { item_id: 'group:crew#1', group_id: staging }],
        ['memory_validate', { item_id: item(1) }],
      ];
      for (const [tool, args] of tries) {
        if (entity === bot) await ann.setStatus(bot.id, 'resume').catch(() => undefined);
        await expect(entity.use(tool as never, args as never)).rejects.toThrow(
          /capability_denied|other_store|group|not_auth/,
        );
      }
      const { effective } = await world.kernel.rights(`cell:society/Entity@1/${entity.id}`);
      expect(effective?.exercise.may.mem_write?.filter((store) => store.startsWith('staging'))).toEqual([]);
    }
    const operation = { op: 'move', id: 1, state: 'archived' };
    const said = { name: 'memory/Say@1', value: { operation, tag: 'x' } };
    await world.kernel.request(['memory/Store@1', scope], said, { as: 'human:ann' }).catch(() => undefined);
    expect(JSON.stringify(await items())).toBe(before);
    await ann.setStatus(bot.id, 'resume').catch(() => undefined);
    expect((await bot.use('memory_read_warm', { group: staging })).items).toHaveLength(3);
    const ben = await at.office.human('ben');
    await expect(ben.use('memory_read_warm', { group: staging })).rejects.toThrow('capability_denied');
    await world.verify();
  });
});

/** An agent that its parent has found right so often that its tier is high. */
async function trusted(more: Parameters<typeof crewOf>[1]) {
  const at = await openPlace();
  const crew = await crewOf(at, more);
  for (let n = 1; n <= 27; n++) {
    await crew.bot.memory.write({ type: 'note', content: `Item ${n}`, visibility: 'group', group: 'crew' });
    await crew.ann.assess(`group:crew#${n}`, { verdict: 'right', basis: 'user' });
  }
  await at.clock.advance(1_000);
  return { at, ...crew };
}

describe('a merge without a review', () => {
  it('an automatic merge takes place with few sessions, high trust, permission, no conflict and nothing narrowed, and its items are written at once [SOC-53]', async () => {
    const { at, ann, bot } = await trusted({ automerge: true });
    await using world = at.world;
    const { value } = await comeBack(at, ann, bot.id, { items: [{ text: 'New.', subject_key: 's' }], sessions: 0 });
    expect([value.merged, value.review]).toEqual([true, 'none']);
    expect((await ann.memory.read('group:crew#28')).content).toBe('New.');
    const far = await comeBack(at, ann, bot.id, { items: [{ text: 'Far.' }], sessions: 3 });
    const other = await comeBack(at, ann, bot.id, { items: [{ text: 'Not new.', subject_key: 's' }], sessions: 1 });
    const beyond = await comeBack(at, ann, bot.id, { items: [{ text: 'Beyond.', group: 'elsewhere' }], sessions: 1 });
    await ann.capabilities(bot.id, { capabilities: { tools: ['memory_*'] } });
    const narrowed = await comeBack(at, ann, bot.id, { items: [{ text: 'Narrowed.' }], sessions: 1 });
    expect([far, other, beyond, narrowed].map((one) => one.value.merged)).toEqual([false, false, false, false]);
    expect(await ann.staging(bot.id)).toHaveLength(4);
    await world.verify();
  });

  it('what is merged without a review stays by the agent, and its parent judges it, also down to where nothing is merged alone [SOC-84]', async () => {
    const { at, ann, bot } = await trusted({ automerge: true });
    await using world = at.world;
    const items = Array.from({ length: 8 }, (_, n) => ({ text: `Claim ${n}.` }));
    await comeBack(at, ann, bot.id, { items, sessions: 0 });
    expect(await ann.memory.read('group:crew#28')).toMatchObject({ author: bot.id, merged_by: 'ann' });
    for (let n = 28; n < 36; n++) await ann.assess(`group:crew#${n}`, { verdict: 'wrong', basis: 'user' });
    expect(await ann.trust(bot.id)).toMatchObject({ observations: 35, tier: 'medium' });
    expect((await comeBack(at, ann, bot.id, { items: [{ text: 'More.' }], sessions: 0 })).value.merged).toBe(false);
    await expect(
      bot.use('memory_assess', { item_id: 'group:crew#28', verdict: 'right', basis: 'user' }),
    ).rejects.toThrow('not_authorized');
    await world.verify();
  });

  it('news of what is merged without a review names the agent as its writer and the parent as its merger, and is told to neither [SOC-111]', async () => {
    const { at, ann, bot } = await trusted({ automerge: true });
    await using world = at.world;
    const ben = await at.office.human('ben');
    await at.office.group('crew').join('ben');
    const told = async (one: typeof ann) => {
      const { events } = await one.use('events_poll', {});
      return JSON.stringify(events).includes('group:crew#28');
    };
    await comeBack(at, ann, bot.id, { items: [{ text: 'New.' }], sessions: 0 });
    const board = await world.kernel.table(['society/Group@1', 'crew'], 'board', {});
    expect(board.at(-1)?.[1]).toMatchObject({ event: 'memory.written', by: bot.id, merged_by: 'ann' });
    expect([await told(ben), await told(ann), await told(bot)]).toEqual([true, false, false]);
    await world.verify();
  });

  it('an agent that has decided on what an agent of its own brought back has lost nothing, and is merged without a review after it [SOC-53]', async () => {
    const { at, ann, bot } = await trusted({ automerge: true });
    await using world = at.world;
    const { agent_id: kid } = await bot.register({ agentType: 'custom', displayName: 'Kid', capabilities: {} });
    await at.office.group('crew').join(kid);
    await comeBack(at, bot, kid, { items: [{ text: 'Of the kid.' }], sessions: 1 });
    await at.clock.advance(1_000);
    await bot.review(kid, { approve: 'all' });
    const { value } = await comeBack(at, ann, bot.id, { items: [{ text: 'New.' }], sessions: 0 });
    expect(value.merged).toBe(true);
    await world.verify();
  });

  it('no automatic merge takes place unless the parent has permitted it for the agent [SOC-53]', async () => {
    const { at, ann, bot } = await trusted({});
    await using world = at.world;
    const { value } = await comeBack(at, ann, bot.id, { items: [{ text: 'New.' }], sessions: 0 });
    expect(value.merged).toBe(false);
    await world.verify();
  });

  it('each condition of an automatic merge is needed [SOC-53]', () => {
    const all: ReturnTerms = { divergence: 2, tier: 'high', willing: true, conflicts: 0, unread: 0 };
    expect(mergesAlone(all)).toBe(true);
    const broken: readonly Partial<ReturnTerms>[] = [
      { divergence: 3 },
      { divergence: null },
      { tier: 'medium' },
      { willing: false },
      { conflicts: 1 },
      { unread: 1 },
    ];
    expect(broken.map((one) => mergesAlone({ ...all, ...one }))).toEqual(broken.map(() => false));
  });
});
