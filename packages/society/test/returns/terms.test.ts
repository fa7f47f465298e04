/** What a return is, beyond its proof and its conditions: what it brings, whose it becomes, and who decides. */
import { memory } from '@reprise/kernel';
import { VirtualClock } from '@reprise/testkit';
import { defineAgent, defineTool, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import { society } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { memoryVault } from '../../src/adapters/vault.js';
import { IDENTITY_BOUNDS } from '../../src/index.js';
import { comeBack, crewOf, openPlace, type Place, storeOfGroup } from '../support/comeback.js';

/** A fork in which the agent writes an item for its group, and again with better words, one for itself and a note; and its parent writes. */
async function forkOf(at: Place, agent: string) {
  const fork = memory();
  const budgets = { 'entity:ann': {}, [`entity:${agent}`]: {} };
  await at.world.kernel.fork({ into: fork, mode: 'live', grants: { may: {} }, budgets });
  const part = society({ keys: at.keys });
  await using world = await openWorld({ store: fork, models: { main: script() }, parts: [part] });
  const bot = world.part(part).entity(agent);
  const shared = { type: 'note', visibility: 'group', group: 'crew' } as const;
  const { item_id: supersedes } = await bot.memory.write({ ...shared, content: 'For some.' });
  await bot.memory.write({ ...shared, content: 'For all.', supersedes });
  await world
    .part(part)
    .entity('ann')
    .memory.write({ ...shared, content: 'Of the parent.' });
  await bot.memory.write({ type: 'note', content: 'Mine.', visibility: 'private' });
  await bot.memory.write({ type: 'note', content: 'A note.', visibility: 'private', store: 'notes' });
  return fork;
}

/** The facts of a name, in the order of the journal. */
async function factsOf({ world: { kernel } }: Pick<Place, 'world'>, name: string) {
  const found = [];
  for await (const { seq, records } of kernel.frames(0)) {
    found.push(...records.flatMap((record) => (record.kind === 'fact' && record.name === name ? [record.value] : [])));
    if (seq >= kernel.head.seq) break;
  }
  return found;
}

describe('a return', () => {
  it('what was private and the notes of the agent stay in the fork, and the merge says how much that is [SOC-57]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const fork = await forkOf(at, bot.id);
    const { returns, stayed } = await ann.mergeFork(fork);
    expect(returns.map(({ items }) => items)).toEqual([1]);
    expect(stayed).toEqual([{ agent_id: bot.id, private: 1, notes: 1 }]);
    expect((await ann.staging(bot.id)).map(({ content }) => content)).toEqual(['For all.']);
    await world.verify();
  });

  it('a fork that is brought back again is recognized, while its items wait, when they were decided on, and when they were erased [SOC-62]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const fork = await forkOf(at, bot.id);
    const [first] = (await ann.mergeFork(fork)).returns;
    expect(first).toMatchObject({ items: 1, repeated: false });
    const { head } = world.kernel;
    expect((await ann.mergeFork(fork, { agents: [bot.id] })).returns).toEqual([{ ...first, repeated: true }]);
    expect(world.kernel.head).toEqual(head);
    const [staged] = await ann.staging(bot.id);
    await ann.review(bot.id, { approve: [staged?.item_id ?? ''] });
    const [[, row] = []] = await world.kernel.table(['memory/Store@1', 'group:crew'], 'items', {});
    await world.kernel.erase(
      { refs: [(row as unknown as { readonly content_ref: never }).content_ref] },
      { id: 'gone' },
    );
    expect((await ann.mergeFork(fork)).returns).toEqual([{ ...first, repeated: true }]);
    expect(await ann.staging(bot.id)).toEqual([]);
    await world.verify();
  });

  it('a merge that was refused, or whose challenge ran out, takes place when it is asked for again [SOC-62]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const fork = await forkOf(at, bot.id);
    const agents = [bot.id];
    await ann.setStatus(bot.id, 'activate');
    await ann.setStatus(bot.id, 'suspend');
    for (let n = 0; n < 2; n++)
      await expect(ann.mergeFork(fork, { agents })).rejects.toMatchObject({ details: { reason: 'agent_not_active' } });
    await ann.setStatus(bot.id, 'resume');
    const sign = async (): Promise<never> => {
      throw new Error('the process ends here');
    };
    await expect(ann.mergeFork(fork, { agents, sign })).rejects.toThrow('the process ends here');
    await at.clock.advance(60_001);
    expect((await ann.mergeFork(fork, { agents })).returns).toMatchObject([{ items: 1, repeated: false }]);
    expect(await ann.staging(bot.id)).toHaveLength(1);
    await world.verify();
  });

  it('a review happens once for its id, and decides on what waited when it was asked for first [SOC-62]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const come = (text: string) => comeBack(at, ann, bot.id, { items: [{ text }], sessions: 1 });
    await come('One.');
    await come('Two.');
    const first = await ann.review(bot.id, { approve: 'all' }, { id: 'once' });
    expect(first.copied).toHaveLength(2);
    await come('Three.');
    expect(await ann.review(bot.id, { approve: 'all' }, { id: 'once' })).toEqual(first);
    expect((await ann.staging(bot.id)).map(({ content }) => content)).toEqual(['Three.']);
    const other = ann.review(bot.id, { reject: true }, { id: 'once' });
    await expect(other).rejects.toMatchObject({ code: 'request_conflict' });
    expect((await ann.memory.list('crew')).items.map(({ content }) => content)).toEqual(['One.', 'Two.']);
    await world.verify();
  });

  it('a parent keeps 64 returns that wait for a review, refuses another one, and takes it when one was decided on [SOC-52]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const come = () => comeBack(at, ann, bot.id, { items: [{ text: 'Found.' }], sessions: 1 });
    for (let n = 0; n < IDENTITY_BOUNDS.staged; n++) expect((await come()).is_error).toBe(false);
    expect(await come()).toMatchObject({ is_error: true, value: { code: 'too_many_returns' } });
    const [first] = await ann.staging(bot.id);
    await ann.use('staging_review', { staging_group_id: first?.staging_group_id ?? '', decision: 'reject' });
    expect((await come()).is_error).toBe(false);
    await world.verify();
  });

  it('what a parent takes over is the parent’s, and item, copies of it and fact name the agent that it comes from [SOC-58]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    await comeBack(at, ann, bot.id, { items: [{ text: 'Found.' }] });
    const [staged] = await ann.staging(bot.id);
    expect(staged?.author).toBe(bot.id);
    expect(staged).not.toHaveProperty('taken_over_from');
    await ann.review(bot.id, { approve: [staged?.item_id ?? ''] });
    await ann.memory.write({ type: 'note', content: 'Own.', visibility: 'group', group: 'crew' });
    await at.office.group('board').open();
    await at.office.group('board').join('ann');
    for (const n of [1, 2]) await ann.memory.share(`group:crew#${n}`, 'board');
    const copies = (await ann.memory.list('board')).items;
    expect(copies.map(({ content, taken_over_from }) => [content, taken_over_from])).toEqual([
      ['Found.', bot.id],
      ['Own.', undefined],
    ]);
    const { items } = await bot.memory.list('crew');
    expect(items.map(({ content, author, taken_over_from }) => [content, author, taken_over_from])).toEqual([
      ['Found.', 'ann', bot.id],
      ['Own.', 'ann', undefined],
    ]);
    expect(await factsOf(at, 'society/Merged@1')).toEqual([
      { agent_id: bot.id, item_id: staged?.item_id, copy_id: 'group:crew#1', by: { kind: 'program', id: 'operator' } },
    ]);
    await world.verify();
  });

  it('a forced review is shown before it, and approves only items that it names; others are approved at once [SOC-59]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const items = [{ text: 'One.' }, { text: 'Two.' }];
    for (const sessions of [7, 7, undefined]) await comeBack(at, ann, bot.id, { items, sessions });
    const staged = await ann.staging(bot.id);
    expect(staged.map(({ review }) => review)).toEqual(Array(6).fill('forced'));
    const groups = [...new Set(staged.map(({ staging_group_id }) => staging_group_id))];
    const decide = (n: number, decision: object) =>
      ann.use('staging_review', { staging_group_id: groups[n], ...decision } as never);
    const forced = { details: { reason: 'review_forced' } };
    const before = await storeOfGroup(at);
    await expect(decide(0, { decision: 'approve' })).rejects.toMatchObject(forced);
    await expect(ann.review(bot.id, { approve: 'all' })).rejects.toMatchObject(forced);
    expect(await storeOfGroup(at)).toBe(before);
    const both = { decision: 'partial', items: staged.slice(0, 2).map(({ item_id }) => item_id) };
    expect(await decide(0, both)).toMatchObject({ copied: [{}, {}].map(() => expect.any(String)) });
    const some = { decision: 'partial', items: [staged[2]?.item_id] };
    expect(await decide(1, some)).toMatchObject({ copied: [expect.any(String)], rejected: [staged[3]?.item_id] });
    expect(await decide(2, { decision: 'reject' })).toMatchObject({ copied: [] });
    await expect(decide(2, { decision: 'approve' })).rejects.toMatchObject({ details: { reason: 'staging_unknown' } });
    expect((await ann.memory.list('crew')).items.map(({ content }) => content)).toEqual(['One.', 'Two.', 'One.']);
    await world.verify();
  });

  it('what an agent of a swarm brings back is staged at the creator of the swarm, who decides on it [SOC-60]', async () => {
    const keys = memoryVault();
    const clock = new VirtualClock();
    const part = society({ keys });
    let open = (_: string): void => undefined;
    const opened = new Promise<string>((resolve) => {
      open = resolve;
    });
    const args = z.strictObject({});
    const wait = defineTool({ name: 'wait', description: 'Waits.', args, run: () => opened });
    const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.', tools: [wait] });
    const models = { main: script({ calls: [{ tool: 'wait', args: {} }] }, { text: 'Seen.' }) };
    await using world = await openWorld({ store: memory(), clock, models, agents: [scout], parts: [part] });
    const at: Place = { world, office: world.part(part), keys, clock };
    const ann = await at.office.human('ann');
    const ben = await at.office.human('ben');
    const slot = { slot: 'scout', agentType: 'swarm-worker', capabilities: {}, count: 1 } as const;
    const swarm = await ann.createSwarm({ goal: 'Look', strategy: 'broadcast', agents: [slot], groupId: 'crew' });
    const [member] = (await swarm.status()).agents;
    const agent = member?.agent_id ?? '';
    expect(await comeBack(at, ann, agent, { items: [{ text: 'Found.' }], sessions: 1 })).toMatchObject({
      is_error: false,
    });
    await expect(ben.review(agent, { approve: 'all' })).rejects.toMatchObject({
      details: { reason: 'staging_unknown' },
    });
    expect((await ann.staging(agent)).map(({ content, author }) => [content, author])).toEqual([['Found.', agent]]);
    expect((await ann.review(agent, { approve: 'all' })).copied).toHaveLength(1);
    open('done');
    await swarm.ended();
    await world.verify();
  });
});
