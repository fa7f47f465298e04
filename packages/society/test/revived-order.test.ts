/** What entities, groups and swarms ask and tell once their cells, which had failed, are revived. */
import { defineAgent, memory, openWorld } from 'reprise';
import type { ReducerDefinition } from 'reprise/kernel';
import { scriptBy } from 'reprise/providers';
import { society } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { memoryVault } from '../src/adapters/vault.js';
import { comeBack, crewOf, type Place } from './support/comeback.js';
import { changedUses } from './support/failing.js';
import { familyOf } from './support/family.js';
import { agentOf, refusedWith } from './support/office.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const rights = async ({ world }: Pick<Place, 'world'>, id: string) =>
  (await world.kernel.rights(`cell:society/Entity@1/${id}`)).effective?.exercise.may;

describe('an agent whose cell has failed and is revived', () => {
  it('a revived agent leaves the group that it was removed from meanwhile, and takes the role that it was given in another [SOC-112] [SOC-115]', async () => {
    await using at = await familyOf();
    const groups = ['crew', 'club'].map((name) => at.office.group(name));
    for (const group of groups) await group.open({ owner: 'ann' });
    for (const group of groups) await group.join(at.bot.id);
    await failEntity(at.world, at.bot.id);
    await groups[0]?.leave(at.bot.id);
    expect(await groups[1]?.join(at.bot.id, 'viewer')).toBe(true);
    expect(await groups[1]?.members()).toEqual({ [at.bot.id]: 'viewer' });
    await at.bot.revive();
    const may = await rights(at, at.bot.id);
    expect(may?.mem_read?.filter((store) => store.startsWith('group:'))).toEqual(['group:club']);
    expect(may?.mem_write?.filter((store) => store.startsWith('group:'))).toEqual([]);
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it('a revived agent stands still by the suspension that its maker kept for it, and its maker resumes it [SOC-114]', async () => {
    await using at = await familyOf();
    await failEntity(at.world, at.bot.id);
    await at.ann.setStatus(at.bot.id, 'suspend');
    await at.bot.revive();
    expect((await at.bot.state())?.suspended).toMatchObject({ by: 'ann', depth: 0 });
    expect(await refusedWith(at.boss.setStatus(at.bot.id, 'resume'))).toBe('not_authorized');
    expect((await at.ann.setStatus(at.bot.id, 'resume')).status).toBe('active');
  });

  it('a revived agent is asked again for each narrowing, those of one entity in their order, and is held to none of them any more [SOC-114]', async () => {
    await using at = await familyOf();
    await failEntity(at.world, at.bot.id);
    await at.boss.capabilities(at.bot.id, { capabilities: { tools: ['memory_*'] } });
    await at.ann.capabilities(at.bot.id, { capabilities: { max_parallel_ops: 2 } });
    await at.boss.capabilities(at.bot.id, { capabilities: { tools: ['memory_search'] } });
    await at.bot.revive();
    const { declared } = await at.ann.capabilities(at.bot.id);
    expect(declared).toMatchObject({ tools: ['memory_search'], max_parallel_ops: 2 });
    const held = await at.world.kernel.rights(`cell:society/Entity@1/${at.bot.id}`);
    expect(held.declared?.holds).toBeUndefined();
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it('a revived agent ends, with all below it, when it was removed meanwhile, and the rows of its maker stay as they are [SOC-114] [SOC-89]', async () => {
    await using at = await familyOf();
    await failEntity(at.world, at.boss.id);
    await at.ann.setStatus(at.boss.id, 'deactivate', { grace: '60s' });
    await at.clock.advance(60_000);
    await at.world.pump();
    await at.boss.revive();
    expect((await at.boss.state())?.status).toBe('removed');
    expect((await at.bot.state())?.status).toBe('deactivated');
    expect((await at.ann.agents()).items.map(({ status }) => status)).toEqual(['removed']);
    expect((await at.ann.state())?.children).toBe(0);
    expect(await at.world.trouble()).toEqual([]);
  });
});

describe('an agent whose cell has failed, and whose maker ended it', () => {
  it('an agent that failed, and that its maker ended, cannot be suspended any more: an ancestor above the maker knows that it ended [SOC-77]', async () => {
    await using at = await familyOf();
    const id = await agentOf(at.boss, { ttl_seconds: 60 });
    await failEntity(at.world, id);
    await at.clock.advance(60_000);
    expect(await refusedWith(at.ann.setStatus(id, 'suspend'))).toBe('illegal_transition');
  });
});

describe('a maker whose cell has failed and is revived', () => {
  it('a revived maker hears how its agents stand, and which of them have failed meanwhile [SOC-108]', async () => {
    await using at = await familyOf();
    const other = at.office.entity(await agentOf(at.boss));
    await failEntity(at.world, at.boss.id);
    await at.ann.setStatus(at.bot.id, 'deactivate', { grace: '60s' });
    await failEntity(at.world, other.id);
    await at.boss.revive();
    const rows = (await at.boss.agents()).items.map(({ agent_id, status }) => [agent_id === at.bot.id, status]);
    expect(rows).toContainEqual([true, 'deactivated']);
    expect(await at.boss.setStatus(other.id, 'deactivate')).toMatchObject({ cell: 'failed' });
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it('a revived maker tells its agents what it was stopped in the middle of telling: they stand still with it [SOC-108] [CAP-7]', async () => {
    const part = once('society/Entity@1', 'org/Rest@1', HOUR);
    await using at = await opened(part);
    const ann = await at.office.human('ann');
    const boss = at.office.entity(await agentOf(ann));
    const bot = at.office.entity(await agentOf(boss));
    await ann.setStatus(bot.id, 'activate');
    await ann.setStatus(boss.id, 'suspend');
    expect((await bot.state())?.status).toBe('active');
    await at.clock.advance(HOUR);
    await boss.revive();
    expect((await bot.state())?.status).toBe('suspended');
    await ann.setStatus(boss.id, 'resume');
    expect((await bot.state())?.status).toBe('active');
  });

  it('an agent that is removed ends those of its agents whose cells have failed [SOC-89]', async () => {
    await using at = await familyOf();
    await failEntity(at.world, at.bot.id);
    await at.ann.setStatus(at.boss.id, 'deactivate', { grace: '60s' });
    await at.clock.advance(60_000);
    expect((await at.boss.state())?.status).toBe('removed');
    const rows = await at.world.kernel.table(['society/Entity@1', at.boss.id], 'children', {});
    expect(rows.map(([, row]) => (row as { status?: unknown }).status)).toEqual(['deactivated']);
    await at.bot.revive();
    expect((await at.bot.state())?.status).toBe('deactivated');
    await at.clock.advance(2 * DAY);
    await at.world.pump();
    expect((await at.bot.state())?.status).toBe('removed');
  });
});

describe('what waits when the cell of an entity fails', () => {
  it('a review goes on at the revival of the parent, and each approved item is written once [SOC-107]', async () => {
    await using at = await opened(once('society/Entity@1', 'society/Copied@1', HOUR));
    const { ann, bot } = await crewOf(at);
    await comeBack(at, ann, bot.id, { items: [{ text: 'One.' }, { text: 'Two.' }], sessions: 1 });
    expect(await refusedWith(ann.review(bot.id, { approve: 'all' }))).toBe('cell_failed');
    await at.clock.advance(HOUR);
    await ann.revive();
    await at.world.pump();
    expect(await ann.staging(bot.id)).toEqual([]);
    const items = await at.world.kernel.table(['memory/Store@1', 'group:crew'], 'items', {});
    expect(items).toHaveLength(2);
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it('a review that goes on at the revival of the parent writes nothing to a group that the parent left meanwhile [SOC-130]', async () => {
    await using at = await opened(failingReviews);
    const { ann, bot, crew } = await crewOf(at);
    await comeBack(at, ann, bot.id, { items: [{ text: 'One.' }, { text: 'Two.' }], sessions: 1 });
    expect(await refusedWith(ann.review(bot.id, { approve: 'all' }))).toBe('cell_failed');
    await crew.leave('ann');
    await at.clock.advance(HOUR);
    await at.world.kernel.revive([...CREW_STORE]);
    await ann.revive();
    await at.world.pump();
    expect(await at.world.kernel.table([...CREW_STORE], 'items', {})).toEqual([]);
    expect(await ann.staging(bot.id)).toHaveLength(2);
    expect((await at.world.verify()).unverified).toBe(0);
  });

  it('a call that waits is answered at the revival, and its repetition does not wait for ever [SOC-107]', async () => {
    await using at = await opened(once('society/Entity@1', 'society/Checked@1', HOUR));
    const ann = await at.office.human('ann');
    expect(await refusedWith(ann.agents())).toBe('cell_failed');
    expect((await ann.state())?.calls).toBe(1);
    await at.clock.advance(HOUR);
    await ann.revive();
    expect((await ann.state())?.calls).toBe(0);
    expect(await ann.agents()).toEqual({ items: [] });
  });
});

describe('a swarm whose cell has failed and is revived', () => {
  it('a revived swarm hears what its creator may hand on and that it has ended, and ends with its agents [SOC-108] [SOC-63]', async () => {
    await using at = await opened(once('society/Swarm@1', 'society/Above@1', HOUR));
    const ann = await at.office.human('ann');
    const boss = at.office.entity(await agentOf(ann));
    const agents = [{ slot: 'scout', agentType: 'swarm-worker' as const, capabilities: {}, count: 2 }];
    const swarm = await boss.createSwarm({ goal: 'Compare', strategy: 'broadcast', agents });
    await ann.capabilities(boss.id, { capabilities: { tools: ['memory_*'] } });
    expect((await at.world.trouble()).map(({ where }) => where)).toEqual([swarm.address]);
    await ann.setStatus(boss.id, 'deactivate');
    await at.clock.advance(HOUR);
    await swarm.revive();
    expect((await ann.agents()).items.map(({ status }) => status)).toEqual(['deactivated']);
    for (const { agent_id } of swarm.created.agents)
      expect((await at.office.entity(agent_id).state())?.status).toBe('deactivated');
    expect(await at.world.kernel.state([...swarm.address])).toMatchObject({ status: 'failed' });
  });
});

const CREW_STORE = ['memory/Store@1', 'group:crew'] as const;

/** In the first hour the store of a group fails of what is written to it, and who wrote of the answer. */
function failingReviews(keys: ReturnType<typeof memoryVault>): Part {
  const part = once('society/Entity@1', 'society/Copied@1', HOUR)(keys);
  const change = (one: ReducerDefinition) =>
    one.name === CREW_STORE[0] ? failingUntil(one, 'sys/EffectOpened@1', HOUR, CREW_STORE[1]) : one;
  return { ...part, uses: changedUses(part, change) };
}

/** The society with a defect of a time: a cell fails of an event in the first hour. */
function once(reducer: string, event: string, ms: number): (keys: ReturnType<typeof memoryVault>) => Part {
  return (keys) => {
    const part = society({ keys });
    const reducers = (part.reducers ?? []).map((one) => (one.name === reducer ? failingUntil(one, event, ms) : one));
    return { ...part, reducers };
  };
}

type Part = ReturnType<typeof society>;

function failingUntil(one: ReducerDefinition, name: string, ms: number, key?: string): ReducerDefinition {
  const until = new VirtualClock().wall() + ms;
  return {
    ...one,
    reduce: (draft, event, ctx) => {
      const isHere = key === undefined || ctx.address[1] === key;
      if (isHere && event.name === name && ctx.now < until) throw new Error('a defect of the first hour');
      return one.reduce(draft, event, ctx);
    },
  };
}

const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look at one market.' });

async function opened(of: (keys: ReturnType<typeof memoryVault>) => Part) {
  const clock = new VirtualClock();
  const keys = memoryVault();
  const part = of(keys);
  const models = { main: scriptBy(() => ({ text: 'Late.', delayMs: 10 * HOUR })) };
  const world = await openWorld({
    ...{ store: memory(), clock, models, agents: [scout], parts: [part], onError: () => undefined },
  });
  return { world, office: world.part(part), keys, clock, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}
