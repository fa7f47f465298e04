/** Agents whose cells have failed: what is taken from them, by whom, on which way, and what their maker does for them. */
import type { Served, ServedAnswer } from '@reprise/agent';
import type { JournalRecord, Principal } from '@reprise/contracts';
import { memoryPart } from 'reprise/org';
import type { Entity, SwarmManifest } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { failEntity } from '../../../conformance/society/failing.js';
import { agentOf, agentWith, hangingTool, openOffice, refusedWith } from './support/office.js';

const DAY = 86_400_000;
const HANG = { calls: [{ tool: 'hang', args: {} }] };
const PURE = {
  calls: [
    { tool: 'hang', args: {} },
    { tool: 'hang', args: {} },
  ],
};

type Scene = Awaited<ReturnType<typeof openOffice>>;

/** An agent of a person with a tool that hangs, and an agent below it that uses the tool as well; then the upper one fails. */
async function failed(more: { readonly steps?: readonly object[] } = {}) {
  const { tool, state } = hangingTool();
  const worker = agentWith([tool]);
  const steps = (more.steps ?? [HANG, HANG, PURE, { text: 'Over.' }]) as never;
  const scene = await openOffice({ failing: true, agents: [worker], steps });
  const ann = await scene.office.human('ann');
  const id = await agentOf(ann);
  const agent = scene.office.entity(id);
  const below = await agentOf(agent);
  await agent.send(worker, 'Go.');
  await hanging(state, 1);
  await scene.office.entity(below).send(worker, 'Go.');
  await hanging(state, 2);
  await failEntity(scene.world, id);
  return { scene, ann, id, agent, below, state, worker, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
}

async function hanging(state: { readonly hanging: number }, count: number): Promise<void> {
  while (state.hanging < count) await new Promise((resolve) => setImmediate(resolve));
}

/** The effects of cells of an entity, and of those below that are named, emitted or begun after a frame. */
async function effectsAfter({ world }: Scene, seq: number, entities: readonly string[]): Promise<readonly string[]> {
  const all: JournalRecord[] = [];
  for await (const frame of world.kernel.frames(seq + 1)) {
    all.push(...frame.records);
    if (frame.seq === world.kernel.head.seq) break;
  }
  const isTheirs = (record: JournalRecord) =>
    record.kind === 'effect' && entities.some((id) => record.plan[1] === id || record.plan[1].startsWith(`${id}/`));
  return all.filter(isTheirs).map((record) => (record as { readonly name: string }).name);
}

/** The agents that facts of a name are about. */
async function factsOf({ world }: Scene, name: string): Promise<readonly string[]> {
  const agents: string[] = [];
  for await (const { seq, records } of world.kernel.frames(0)) {
    for (const record of records)
      if (record.kind === 'fact' && record.name === name)
        agents.push((record.value as { readonly agent_id: string }).agent_id);
    if (seq === world.kernel.head.seq) return agents;
  }
  return agents;
}

const SESSION = (id: string): [string, string] => ['aos.agent/SessionReducer@1', `${id}/worker`];

const holder = (id: string) => `cell:society/Entity@1/${id}` as const;

async function rightsOf({ world }: Scene, id: string) {
  return (await world.kernel.rights(holder(id))).effective?.exercise.may;
}

describe('given an agent whose own cell has failed in the middle of a tool call', () => {
  it('deactivating it ends its tool calls and those of the agents below it, and nothing of them begins again [SOC-76] [CAP-12]', async () => {
    await using there = await failed();
    const { scene, ann, id, agent, below, state, worker } = there;
    const answer = await ann.setStatus(id, 'deactivate', { grace: '60s' });
    expect(answer).toMatchObject({ agent_id: id, status: 'deactivated', cell: 'failed', code: 'threw' });
    expect(Date.parse(answer.grace_until ?? '') - scene.clock.wall()).toBe(60_000);
    const { seq } = scene.world.kernel.head;
    expect(state.stopped).toBe(2);
    await scene.world.pump();
    expect(await refusedWith(scene.office.entity(below).agents())).toBe('capability_denied');
    expect(await refusedWith(agent.send(worker, 'Again.'))).toBe('cell_failed');
    expect(await effectsAfter(scene, seq, [id, below])).toStrictEqual([]);
    expect((await ann.agents()).items.map(({ status }) => status)).toStrictEqual(['deactivated']);
    await scene.world.verify();
  });

  it('narrowing it ends what the narrower capabilities do not permit, and the answer says that its cell has failed [SOC-76] [CAP-11]', async () => {
    await using there = await failed();
    const { scene, ann, id, below, state } = there;
    const answer = await ann.capabilities(id, { capabilities: { tools: ['read_*'] }, expectedRevision: 7 });
    expect(answer).toMatchObject({ agent_id: id, status: 'active', cell: 'failed', code: 'threw' });
    expect(state.stopped).toBe(2);
    expect((await rightsOf(scene, id))?.tool).toStrictEqual(['read_*']);
    expect((await rightsOf(scene, below))?.tool).toStrictEqual(['read_*']);
    await ann.capabilities(id, { capabilities: { tools: ['read_file'], max_parallel_ops: 1 } });
    expect((await rightsOf(scene, below))?.tool).toStrictEqual(['read_file']);
    await ann.capabilities(id, { grant: { tools: ['read_file', 'grep'] } });
    expect((await rightsOf(scene, below))?.tool).toStrictEqual(['read_file']);
    expect(await refusedWith(ann.capabilities(id, { capabilities: { tools: null } }))).toBe('cell_failed');
    await scene.world.verify();
  });

  it('every dimension that a change names is narrowed by the kernel itself [CAP-3] [SOC-76]', async () => {
    await using there = await failed();
    const { scene, ann, id } = there;
    const scope = (groups: string[]) => ({ layers: ['l2' as const], groups, visibility: ['group' as const] });
    const capabilities = {
      ...{ memory_read: scope(['crew']), memory_write: scope([]), tools: ['grep'] },
      ...{ max_parallel_ops: 2, ttl_seconds: 60, autonomous: false },
    };
    await ann.capabilities(id, { capabilities });
    const { effective } = await scene.world.kernel.rights(holder(id));
    expect(effective?.exercise).toMatchObject({
      may: { group: ['crew'], mem_write: [], tool: ['grep'], unwatched: [] },
      max_parallel: 2,
      expires_at: scene.clock.wall() + 60_000,
    });
    expect(effective?.exercise.may.mem_read).not.toContain('public');
    await scene.world.verify();
  });

  it('an entity further up takes rights back as well, and the maker of the failed agent keeps its status [SOC-76] [SOC-77]', async () => {
    await using scene = await openOffice({ failing: true });
    const ann = await scene.office.human('ann');
    const lead = scene.office.entity(await agentOf(ann));
    const id = await agentOf(lead);
    await lead.setStatus(id, 'activate');
    await failEntity(scene.world, id);
    expect(await ann.setStatus(id, 'suspend')).toMatchObject({ status: 'suspended', cell: 'failed' });
    expect((await lead.agents()).items.map(({ status }) => status)).toStrictEqual(['suspended']);
    expect(await refusedWith(lead.setStatus(id, 'resume'))).toBe('not_authorized');
    expect(await ann.setStatus(id, 'deactivate')).toMatchObject({ status: 'deactivated', cell: 'failed' });
    expect((await lead.agents()).items.map(({ status }) => status)).toStrictEqual(['deactivated']);
    expect(await refusedWith(ann.setStatus(id, 'deactivate'))).toBe('illegal_transition');
    expect((await rightsOf(scene, id))?.tool).toStrictEqual([]);
    await scene.world.verify();
  });

  it('a client takes its rights back by the tools of the society, and is answered in the form of their schemas [SOC-76]', async () => {
    await using there = await failed();
    const { scene, id, state } = there;
    const [served] = scene.world.served as readonly [Served];
    const call = (name: string, args: object): Promise<ServedAnswer> =>
      served.call(scene.world.kernel.as('human:ann' as Principal), name, args as never, crypto.randomUUID(), {
        signal: new AbortController().signal,
      });
    const narrowed = await call('agent_capabilities', { agent_id: id, capabilities: { tools: [] } });
    expect(narrowed).toMatchObject({
      isError: false,
      structured: { agent_id: id, effective: { tools: [] }, revision: 0 },
    });
    expect(state.stopped).toBe(2);
    const ended = await call('agent_deactivate', { agent_id: id });
    expect(ended).toMatchObject({ isError: false, structured: { status: 'deactivated' } });
    for (const [name, { structured }] of [
      ['agent_capabilities', narrowed],
      ['agent_deactivate', ended],
    ] as const)
      expect(
        (await import('../src/pure/index.js')).SOCIETY_TOOLS[name].answer.safeParse(structured).error,
      ).toBeUndefined();
  });

  it('what needs the agent itself is refused with the reason, and is no unknown agent [SOC-76]', async () => {
    await using there = await failed();
    const { scene, ann, id } = there;
    for (const asked of [
      ann.capabilities(id),
      ann.setStatus(id, 'activate'),
      ann.setStatus(id, 'reactivate'),
      ann.setStatus(id, 'resume'),
      ann.use('agent_list', { entity_id: id }),
      ann.use('agent_register', { parent_entity_id: id, agent_type: 'custom', display_name: 'X', capabilities: {} }),
    ])
      expect(await refusedWith(asked)).toBe('cell_failed');
    const bob = await scene.office.human('bob');
    expect(await refusedWith(bob.setStatus(id, 'deactivate'))).toBe('agent_unknown');
    expect((await rightsOf(scene, id))?.tool).toBeUndefined();
    await scene.world.verify();
  });
});

describe('given an agent whose cell is sound, below one whose cell has failed', () => {
  it('an entity further up is answered by it, and takes its rights back as ever [SOC-76]', async () => {
    await using there = await failed();
    const { scene, ann, below, state } = there;
    expect((await ann.capabilities(below)).agent_id).toBe(below);
    expect((await ann.capabilities(below, { capabilities: { tools: ['grep'] } })).effective.tools).toStrictEqual([
      'grep',
    ]);
    expect(state.stopped).toBe(1);
    expect(await ann.setStatus(below, 'deactivate')).not.toHaveProperty('cell');
    expect(await refusedWith(ann.setStatus(below, 'deactivate'))).toBe('illegal_transition');
    expect((await scene.world.kernel.rights(holder(below))).declared?.holds).toBeUndefined();
    await scene.world.verify();
  });

  it('when both have failed, the entity further up holds each of them [SOC-76]', async () => {
    await using there = await failed();
    const { scene, ann, id, below, state } = there;
    await failEntity(scene.world, below);
    expect(await ann.capabilities(below, { capabilities: { tools: ['grep'] } })).toMatchObject({ cell: 'failed' });
    expect(state.stopped).toBe(1);
    expect(await ann.setStatus(below, 'deactivate')).toMatchObject({ status: 'deactivated', cell: 'failed' });
    expect(await ann.capabilities(id, { capabilities: { tools: [] } })).toMatchObject({ cell: 'failed' });
    expect(state.stopped).toBe(2);
    await scene.world.verify();
  });
});

describe('given a failed agent that is suspended by an entity above it', () => {
  it('the sessions of a suspended failed agent pause and nothing of them is cancelled; resuming it lets them go on [SOC-36] [SOC-77]', async () => {
    await using there = await failed();
    const { scene, ann, id, state } = there;
    expect(await ann.setStatus(id, 'suspend')).toMatchObject({ status: 'suspended', cell: 'failed' });
    const lifecycle = async () =>
      (await scene.world.kernel.state(SESSION(id))) as unknown as { readonly lifecycle: string };
    expect((await lifecycle()).lifecycle).toBe('Paused');
    expect(state.stopped).toBe(0);
    expect(await ann.setStatus(id, 'resume')).toMatchObject({ status: 'active', cell: 'failed' });
    expect((await lifecycle()).lifecycle).toBe('Running');
    expect(state.stopped).toBe(0);
  });
});

describe('given an agent that has failed and is revived', () => {
  const revive = ({ world }: Scene, id: string) => world.kernel.revive(['society/Entity@1', id]);

  it('an agent that was ended while it had failed ends itself when it is revived, and gets nothing back by it [SOC-76] [SOC-114]', async () => {
    await using there = await failed();
    const { scene, ann, id, agent, below } = there;
    await ann.setStatus(id, 'deactivate');
    await revive(scene, id);
    expect((await agent.state())?.status).toBe('deactivated');
    expect(await refusedWith(agent.agents())).toBe('agent_not_active');
    await scene.office.group('crew').open({ owner: 'ann' });
    await scene.office.group('crew').join(id); // the cell compiles its rights anew, and its maker sets them
    expect((await rightsOf(scene, id))?.tool).toStrictEqual([]);
    expect((await rightsOf(scene, below))?.tool).toStrictEqual([]);
    await scene.world.verify();
  });

  it('what a revived agent has carried out itself it is no longer held to, and then it comes back as every agent [SOC-76] [SOC-37]', async () => {
    await using there = await failed();
    const { scene, ann, id, agent } = there;
    await ann.setStatus(id, 'deactivate');
    await revive(scene, id);
    expect((await scene.world.kernel.rights(holder(id))).declared?.holds).toBeUndefined();
    expect((await rightsOf(scene, id))?.tool).toStrictEqual([]);
    expect(await refusedWith(ann.setStatus(id, 'deactivate'))).toBe('illegal_transition');
    expect((await ann.setStatus(id, 'reactivate')).status).toBe('active');
    expect(await agent.agents()).toHaveProperty('items');
    await scene.world.verify();
  });

  it('a narrowing that it has not carried out itself stays through an end that it has, and ends with its own answer [SOC-76]', async () => {
    await using there = await failed();
    const { scene, ann, id } = there;
    await ann.capabilities(id, { capabilities: { tools: ['read_*'] } });
    await revive(scene, id);
    await ann.setStatus(id, 'deactivate');
    await ann.setStatus(id, 'reactivate');
    expect((await rightsOf(scene, id))?.tool).toStrictEqual(['read_*']);
    await ann.capabilities(id, { capabilities: { tools: ['grep'] } });
    expect((await rightsOf(scene, id))?.tool).toStrictEqual(['grep']);
    expect((await scene.world.kernel.rights(holder(id))).declared?.holds).toBeUndefined();
    await scene.world.verify();
  });
});

describe('given an agent whose cell is sound', () => {
  it('a change that it refuses holds nothing and ends nothing [CAP-2] [SOC-76]', async () => {
    const { tool, state } = hangingTool();
    const worker = agentWith([tool]);
    await using scene = await openOffice({ failing: true, agents: [worker], steps: [HANG, { text: 'Over.' }] });
    const ann = await scene.office.human('ann');
    const id = await agentOf(ann);
    await scene.office.entity(id).send(worker, 'Go.');
    await hanging(state, 1);
    expect(await refusedWith(ann.capabilities(id, { capabilities: { tools: [] }, expectedRevision: 4 }))).toBe(
      'revision_conflict',
    );
    expect(state.stopped).toBe(0);
    expect((await scene.world.kernel.rights(holder(id))).declared?.holds).toBeUndefined();
    await ann.setStatus(id, 'deactivate');
    expect((await scene.world.kernel.rights(holder(id))).declared?.holds).toBeUndefined();
    await scene.world.verify();
  });

  it('a cell that fails of the very call is held, too [SOC-76]', async () => {
    await using there = await failed();
    const { scene, ann, id } = there;
    await scene.world.kernel.revive(['society/Entity@1', id]);
    await failEntity(scene.world, id);
    expect(await ann.setStatus(id, 'deactivate')).toMatchObject({ cell: 'failed' });
    expect((await rightsOf(scene, id))?.tool).toStrictEqual([]);
  });
});

describe('given a failed agent whose time runs', () => {
  async function timed(capabilities: object, parent?: Entity) {
    const scene = await openOffice({ failing: true, society: { grace: '2d' } });
    const ann = parent ?? (await scene.office.human('ann'));
    const id = await agentOf(ann, capabilities);
    await ann.setStatus(id, 'activate');
    return {
      scene,
      ann,
      id,
      agent: scene.office.entity(id),
      [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
    };
  }

  const rowOf = async (ann: Entity) => (await ann.agents()).items.map(({ status }) => status);

  it('a failed agent ends by its time, is archived by its parent, and is removed after its time of grace with its key and hot context [SOC-77] [SOC-37] [SOC-38]', async () => {
    await using there = await timed({ ttl_seconds: 60 });
    const { scene, ann, id } = there;
    await failEntity(scene.world, id);
    await scene.clock.advance(60_000);
    expect(await rowOf(ann)).toStrictEqual(['deactivated']);
    expect((await rightsOf(scene, id))?.tool).toStrictEqual([]);
    await scene.world.pump();
    const [item] = await scene.world.part(memoryPart()).store('private:ann').search('entities mentioned');
    expect(item?.summary).toContain(id);
    await scene.clock.advance(2 * DAY);
    await scene.world.pump();
    expect(await rowOf(ann)).toStrictEqual(['removed']);
    expect((await ann.state())?.children).toBe(0);
    expect(await factsOf(scene, 'society/HotContextErased@1')).toStrictEqual([id]);
    await scene.world.verify();
  });

  it('the time that a change of capabilities stated before it failed counts [SOC-77]', async () => {
    await using there = await timed({});
    const { scene, ann, id } = there;
    await ann.capabilities(id, { capabilities: { ttl_seconds: 120 } });
    await failEntity(scene.world, id);
    await scene.clock.advance(119_000);
    expect(await rowOf(ann)).toStrictEqual(['active']);
    await scene.clock.advance(1_000);
    expect(await rowOf(ann)).toStrictEqual(['deactivated']);
  });

  it('an agent that failed in its time of grace is removed at its end [SOC-77]', async () => {
    await using there = await timed({});
    const { scene, ann, id } = there;
    await ann.setStatus(id, 'deactivate', { grace: '60s' });
    await failEntity(scene.world, id);
    await scene.clock.advance(60_000);
    await scene.world.pump();
    expect(await rowOf(ann)).toStrictEqual(['removed']);
    await scene.world.verify();
  });
});

const TASKS: SwarmManifest = {
  goal: 'Compare two markets',
  strategy: 'broadcast',
  agents: [{ slot: 'worker', agentType: 'swarm-worker', capabilities: {}, count: 2 }],
};

describe('given an agent of a swarm whose cell fails in the middle of a task', () => {
  async function swarming() {
    const { tool, state } = hangingTool();
    const worker = agentWith([tool]);
    const scene = await openOffice({ failing: true, agents: [worker], steps: [HANG, HANG, { text: 'Over.' }] });
    const ann = await scene.office.human('ann');
    const swarm = await ann.createSwarm(TASKS);
    await hanging(state, 2);
    const [id = '', other = ''] = swarm.created.agents.map(({ agent_id }) => agent_id);
    await failEntity(scene.world, id);
    return { scene, ann, swarm, id, other, state, [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose]() };
  }

  it('the creator of a swarm takes the rights of a failed member back, and its tool call ends [SOC-76] [SOC-77]', async () => {
    await using there = await swarming();
    const { scene, ann, id, state } = there;
    expect(await ann.setStatus(id, 'deactivate')).toMatchObject({ status: 'deactivated', cell: 'failed' });
    expect(state.stopped).toBe(1);
    const { seq } = scene.world.kernel.head;
    await scene.clock.advance(1_000);
    expect(await effectsAfter(scene, seq, [id])).toStrictEqual([]);
    await scene.world.verify();
  });

  it('the task of a failed member fails, and the swarm ends it when it is over [SOC-77]', async () => {
    await using there = await swarming();
    const { scene, ann, swarm, id, other, state } = there;
    const tasks = (await swarm.status()).results.filter(({ agent_id }) => agent_id === id);
    expect(tasks.map(({ status }) => status)).toStrictEqual(['failed']);
    await ann.setStatus(other, 'deactivate');
    expect((await swarm.ended({ within: '10s' })).status).not.toBe('executing');
    expect(state.stopped).toBe(2);
    expect((await rightsOf(scene, id))?.tool).toStrictEqual([]);
    await scene.world.verify();
  });

  it('a swarm removes a failed member when its time of grace is over, and lives on [SOC-77] [SOC-89]', async () => {
    await using there = await swarming();
    const { scene, ann, swarm, id, other } = there;
    await ann.setStatus(other, 'deactivate');
    await swarm.ended({ within: '10s' });
    await scene.clock.advance(8 * 86_400_000);
    const { items } = await ann.agents();
    expect(items.find(({ agent_id }) => agent_id === id)?.status).toBe('removed');
    expect((await scene.world.trouble()).map(({ where }) => where[0])).not.toContain('society/Swarm@1');
    await scene.world.verify();
  });
});
