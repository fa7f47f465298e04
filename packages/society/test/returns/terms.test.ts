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
import { comeBack, crewOf, openPlace, type Place } from '../support/comeback.js';

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
  it('what was private and the notes of the agent stay in the fork, and a fork that is brought back again is staged again [SOC-57]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const fork = await forkOf(at, bot.id);
    const [first] = await ann.mergeFork(fork);
    const [second] = await ann.mergeFork(fork);
    expect([first?.items, second?.items]).toEqual([1, 1]);
    expect(first?.staging_group_id).not.toBe(second?.staging_group_id);
    const staged = await ann.staging(bot.id);
    expect(staged.map(({ content }) => content)).toEqual(['For all.', 'For all.']);
    await ann.review(bot.id, { approve: [staged[0]?.item_id ?? ''] });
    expect((await ann.staging(bot.id)).map(({ staging_group_id }) => staging_group_id)).toEqual([
      second?.staging_group_id,
    ]);
    await ann.review(bot.id, { reject: true });
    expect((await ann.memory.list('crew')).items.map(({ content }) => content)).toEqual(['For all.']);
    await world.verify();
  });

  it('a parent keeps 64 returns that wait for a review, refuses another one, and takes it when one was decided on [SOC-52]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    const come = () => comeBack(at, ann, bot.id, { items: [{ text: 'Found.' }] });
    for (let n = 0; n < IDENTITY_BOUNDS.staged; n++) expect((await come()).is_error).toBe(false);
    expect(await come()).toMatchObject({ is_error: true, value: { code: 'too_many_returns' } });
    const [first] = await ann.staging(bot.id);
    await ann.use('staging_review', { staging_group_id: first?.staging_group_id ?? '', decision: 'reject' });
    expect((await come()).is_error).toBe(false);
    await world.verify();
  });

  it('what a parent takes over is the parent’s, and a fact names the agent and the item that it comes from [SOC-58]', async () => {
    const at = await openPlace();
    await using world = at.world;
    const { ann, bot } = await crewOf(at);
    await comeBack(at, ann, bot.id, { items: [{ text: 'Found.' }] });
    const [staged] = await ann.staging(bot.id);
    expect(staged?.author).toBe(bot.id);
    await ann.review(bot.id, { approve: 'all' });
    expect((await ann.memory.list('crew')).items.map(({ content, author }) => [content, author])).toEqual([
      ['Found.', 'ann'],
    ]);
    expect(await factsOf(at, 'society/Merged@1')).toEqual([
      { agent_id: bot.id, item_id: staged?.item_id, copy_id: 'group:crew#1' },
    ]);
    await world.verify();
  });

  it('a forced review is shown before it, and is decided like any other: all of it, some of it, or none [SOC-59]', async () => {
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
    expect(await decide(0, { decision: 'approve' })).toMatchObject({ copied: [{}, {}].map(() => expect.any(String)) });
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
    const slot = { slot: 'scout', agent_type: 'swarm-worker', capabilities: {}, count: 1 } as const;
    const swarm = await ann.createSwarm({ goal: 'Look', strategy: 'broadcast', agents: [slot], group_id: 'crew' });
    const [member] = (await swarm.status()).agents;
    const agent = member?.agent_id ?? '';
    expect(await comeBack(at, ann, agent, { items: [{ text: 'Found.' }] })).toMatchObject({ is_error: false });
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
