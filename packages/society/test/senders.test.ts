/** Which cells an entity, a group and a swarm believe: those that their events declare, whatever the policy permits. */
import type { Address, Value } from '@reprise/contracts';
import { memory, openWorld } from 'reprise';
import type { WorldPart } from 'reprise/org';
import { script } from 'reprise/providers';
import { society } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import { describe, expect, it } from 'vitest';
import { SWARM } from '../src/pure/contracts/index.js';
import { desk, swarmStub } from './support/desk.js';
import { agentOf, openOffice } from './support/office.js';

/** An app that lets its desk send everything to every cell of the society, and to itself. */
const APP: WorldPart<undefined> = {
  name: 'desk',
  reducers: [desk],
  policy: [
    { send: 'society/*', who: 'cell:test/Desk@1/*', decision: 'allow' },
    { send: 'society/*', who: 'cell:society/Swarm@1/*', decision: 'allow' },
    { send: 'society/Swarm@1/*', who: 'cell:society/Entity@1/*', decision: 'allow' },
  ],
  handle: () => undefined,
};

type Kernel = Awaited<ReturnType<typeof openOffice>>['world']['kernel'];

/** Has a cell send an event. @returns how it was answered */
async function sends(kernel: Kernel, from: Address, to: Address, name: string, value: object): Promise<string> {
  await kernel.request([...from], { name: 'test/Send@1', value: { to, name, value } as Value });
  const { answers } = (await kernel.state([...from])) as unknown as { readonly answers: readonly string[] };
  return answers.at(-1) ?? 'none';
}

/** An agent's record, as a maker states it. */
function recordOf(agent_id: string, parent_entity_id: string) {
  return {
    ...{
      agent_id,
      agent_type: 'custom',
      display_name: 'Forged',
      parent_entity_id,
      lineage: [parent_entity_id],
      depth: 1,
    },
    ...{ public_key: 'k', key_ref: null, declared: {}, granted: null, trust_floor: 'high', automerge: false },
    ...{ expires_at: null, app: null, grace_ms: 1_000, swarm_group: null, above: { may: {} }, limits: {} },
  };
}

const NEW_AGENT = 'd'.repeat(64);

describe('a cell of the app that the policy lets send to every cell of a society', () => {
  it('a stranger makes no agent in the name of a person, no swarm in the name of a creator, and no group for another owner [SOC-71]', async () => {
    await using at = await openOffice({ parts: [APP] });
    const { kernel } = at.world;
    await at.office.human('ann');
    const from: Address = ['test/Desk@1', 'ann'];
    const agent = await sends(
      kernel,
      from,
      ['society/Entity@1', NEW_AGENT],
      'society/Make@1',
      recordOf(NEW_AGENT, 'ann'),
    );
    expect(agent).toBe('not_yours');
    expect(await kernel.state(['society/Entity@1', NEW_AGENT])).toBeUndefined();
    const link = await kernel.content.put(new TextEncoder().encode('A goal of many words.'));
    const opening = {
      ...{
        call: 'c',
        creator: 'ann',
        lineage: ['ann'],
        depth: 0,
        parallel: 1,
        account: 'a',
        expires_at: null,
        app: null,
        grace_ms: 1,
      },
      manifest: { swarm_id: 'crew', goal_ref: link, strategy: 'broadcast', agents: [SLOT] },
      ...{ above: { may: {} }, limits: {} },
    };
    expect(await sends(kernel, from, ['society/Swarm@1', 'crew'], 'society/OpenSwarm@1', opening)).toBe('not_yours');
    expect(await kernel.state(['society/Swarm@1', 'crew'])).toBeUndefined();
    const group: Address = ['society/Group@1', 'crew'];
    const opened = { kind: 'group', owner: ['society/Entity@1', 'ann'], culture: {} };
    expect(await sends(kernel, from, group, 'society/OpenGroup@1', opened)).toBe('accepted');
    expect(await kernel.state([...group])).toMatchObject({ owner: from });
    await kernel.verify();
  });

  it('a stranger gives an agent no tier, no rights, no work and no end, also under the key of its parent [SOC-72]', async () => {
    await using at = await openOffice({ parts: [APP] });
    const { kernel } = at.world;
    const ann = await at.office.human('ann');
    const [agent, sibling] = [await agentOf(ann), await agentOf(ann)];
    const to: Address = ['society/Entity@1', agent];
    const before = await kernel.state([...to]);
    for (const key of ['ann', agent, sibling, 'crew'])
      for (const [name, value] of FROM_OTHERS) {
        const code = await sends(kernel, ['test/Desk@1', key], to, name, value);
        expect([key, name, code]).toEqual([key, name, 'not_yours']);
      }
    expect(await kernel.state([...to])).toEqual(before);
    await kernel.verify();
  });
});

const SLOT = { slot: 'w', agent_type: 'swarm-worker', capabilities: {}, count: 1 };

/** What an agent takes from its maker, its parent, its group and its agents. */
const FROM_OTHERS: readonly (readonly [string, object])[] = [
  ['society/Tier@1', { tier: 'high' }],
  ['society/Start@1', {}],
  ['society/Above@1', { grant: { may: {} }, limits: {} }],
  ['society/Lead@1', { swarm_id: 'crew', group: 'crew' }],
  ['society/ParentStatus@1', { active: false, removed: true, by: 'ann', depth: 0 }],
  ['society/RightsStand@1', { ask: 0, code: null }],
  ['society/Subscribe@1', { subscriptions: [] }],
  ['society/SwarmOver@1', {}],
  ['society/Membership@1', { group: 'crew', role: 'owner', by: null }],
  [
    'society/Ask@1',
    { call: 'c', depth: 0, name: 'agent_deactivate', args: {}, actor: { kind: 'program', id: 'x' }, bytes: 1 },
  ],
  ['society/Removed@1', { agent_id: NEW_AGENT, key_ref: null }],
  ['society/Told@1', { to: 'ann', agent_id: 'ann', call: 'c', value: null, is_error: false }],
  ['org/Rest@1', {}],
  ['society/TakeNews@1', {}],
];

/** A world in which swarms are cells that send what a test has them send. Ann has a call that her swarm leaves open. */
async function withStubs() {
  const whole = society();
  const reducers = (whole.reducers ?? []).map((one) => (one.name === SWARM ? swarmStub : one));
  const part = { ...whole, reducers };
  const world = await openWorld({
    store: memory(),
    models: { main: script() },
    agents: [],
    parts: [part, APP],
    clock: new VirtualClock(),
  });
  const { kernel } = world;
  const ann = await world.part(part).human('ann');
  const agent = await agentOf(ann);
  const event = {
    name: 'society/Call@1',
    value: { call_id: 'open', name: 'swarm_status', args: { swarm_id: 'hers' } },
  };
  await kernel.request(['society/Swarm@1', 'hers'], { name: 'society/SwarmCall@1', value: {} });
  await kernel.request(['society/Entity@1', 'ann'], event as never);
  const calls = async () => (await kernel.table(['society/Entity@1', 'ann'], 'calls')).map(([key]) => key);
  while ((await calls()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return { world, kernel, agent, calls, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe('a swarm that an entity did not create', () => {
  it('answers none of its calls [SOC-72]', async () => {
    await using at = await withStubs();
    const [call = ''] = await at.calls();
    const told = { to: 'ann', agent_id: 'other', call, value: { forged: true }, is_error: false };
    const code = await sends(at.kernel, [SWARM, 'other'], ['society/Entity@1', 'ann'], 'society/Told@1', told);
    expect([code, await at.calls()]).toEqual(['not_yours', [call]]);
    await at.kernel.verify();
  });

  it('a stranger has an entity clear no key and no hot context of an agent that lives [SOC-72]', async () => {
    await using at = await withStubs();
    const ann: Address = ['society/Entity@1', 'ann'];
    const removed = { agent_id: at.agent, key_ref: null };
    expect(await sends(at.kernel, [SWARM, 'other'], ann, 'society/Removed@1', removed)).toBe('not_yours');
    expect(await at.kernel.table([...ann], 'clearing')).toEqual([]);
    await at.kernel.verify();
  });
});
