/** Who makes an agent lead a swarm or belong to a group: itself, those above it, and the app; a refusal sends it nothing. */
import type { Address, JournalRecord, Value } from '@reprise/contracts';
import { defineAgent } from 'reprise';
import type { WorldPart } from 'reprise/org';
import type { Entity, SwarmManifest } from 'reprise/society';
import { describe, expect, it } from 'vitest';
import { ENTITY } from '../src/pure/contracts/index.js';
import { desk } from './support/desk.js';
import { agentOf, openOffice, refusedWith } from './support/office.js';

const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });
const agents = [{ slot: 'scout', agentType: 'swarm-worker', capabilities: { tools: [] }, count: 1 }] as const;

/** An app whose desk sends what a test has it send. */
const APP: WorldPart<undefined> = {
  name: 'desk',
  reducers: [desk],
  policy: [{ send: 'society/*', who: 'cell:test/Desk@1/*', decision: 'allow' }],
  handle: () => undefined,
};

/** Ann with an agent, one below it and one beside it, and Ben with one of his own. */
async function openScene() {
  const scene = await openOffice({ agents: [scout], parts: [APP] });
  const ann = await scene.office.human('ann');
  const ben = await scene.office.human('ben');
  const anns = scene.office.entity(await agentOf(ann));
  const below = scene.office.entity(await agentOf(anns));
  await ann.setStatus(below.id, 'activate');
  const beside = scene.office.entity(await agentOf(ann));
  const bens = scene.office.entity(await agentOf(ben));
  return { ...scene, ann, ben, anns, below, beside, bens };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

function manifest(lead: string): SwarmManifest {
  return { swarmId: 'crew', goal: 'Take this over.', strategy: 'hierarchical', coordinatorAgentId: lead, agents };
}

/** The same swarm under another id, as a client calls the tool. */
function asCalled(lead: string) {
  const scouts = [{ slot: 'scout', agent_type: 'swarm-worker', capabilities: { tools: [] }, count: 1 }] as const;
  const common = { goal: 'Take this over.', strategy: 'hierarchical' } as const;
  return { ...common, swarm_id: 'second', coordinator_agent_id: lead, agents: scouts };
}

/** What cells of an agent were sent and took after a frame: the cells of the agent's key, and those below it. */
async function tookAfter({ world }: Scene, seq: number, id: string): Promise<readonly string[]> {
  const taken: string[] = [];
  for await (const frame of world.kernel.frames(seq + 1)) {
    taken.push(...frame.records.flatMap((record) => takenBy(id, record)));
    if (frame.seq === world.kernel.head.seq) break;
  }
  return taken;
}

function takenBy(id: string, record: JournalRecord): readonly string[] {
  if (record.kind === 'fact') return record.from?.[1].startsWith(id) === true ? [record.name] : [];
  if (record.kind !== 'event' || !record.to[1].startsWith(id)) return [];
  return record.event.name === 'society/Lead@1' ? [] : [record.event.name];
}

/** Each: who creates the swarm, whom it names as its coordinator, and the refusal. */
const REFUSED: readonly (readonly [
  title: string,
  by: (at: Scene) => Entity,
  lead: (at: Scene) => string | Promise<string>,
  reason: string,
])[] = [
  ['an agent of another person', ({ ben }) => ben, ({ anns }) => anns.id, 'not_authorized'],
  ['an agent that does not exist', ({ ben }) => ben, () => 'f'.repeat(64), 'not_authorized'],
  ['an agent beside the creator', ({ anns }) => anns, ({ beside }) => beside.id, 'not_authorized'],
  ['the parent of the creator', ({ below }) => below, ({ anns }) => anns.id, 'not_authorized'],
  ['an agent of its own that has ended', ({ ann }) => ann, ended, 'agent_not_active'],
  ['an agent of its own that is suspended', ({ ann }) => ann, suspended, 'agent_not_active'],
  ['an agent of its own that may not use the group', ({ ann }) => ann, withoutGroup, 'capability_denied'],
];

async function ended({ ann, anns }: Scene): Promise<string> {
  await ann.setStatus(anns.id, 'deactivate');
  return anns.id;
}

async function suspended({ ann, anns }: Scene): Promise<string> {
  await ann.setStatus(anns.id, 'suspend');
  return anns.id;
}

async function withoutGroup({ ann, anns }: Scene): Promise<string> {
  const other = { layers: ['l2'], groups: ['other'], visibility: ['group'] } as const;
  await ann.capabilities(anns.id, { capabilities: { memory_read: other, memory_write: other } as never });
  return anns.id;
}

describe('a swarm with a coordinator that exists before it', () => {
  it.each(REFUSED)('%s is refused as coordinator at once, and is sent nothing [SOC-80] [SOC-81]', async (...row) => {
    const [, by, leadOf, reason] = row;
    await using scene = await openScene();
    const lead = await leadOf(scene);
    const { seq } = scene.world.kernel.head;
    const creator = by(scene);
    expect(await refusedWith(creator.createSwarm(manifest(lead)))).toBe(reason);
    expect(await refusedWith(creator.use('swarm_create', asCalled(lead)))).toBe(reason);
    expect(await tookAfter(scene, seq, lead)).toEqual([]);
    expect(await scene.world.kernel.state(['society/Swarm@1', 'crew'])).toBeUndefined();
    expect(await scene.office.group('crew').state()).toBeUndefined();
  });

  it.each([
    ['an agent of the creator', ({ ann }: Scene) => ann, ({ anns }: Scene) => anns],
    ['an agent further below', ({ ann }: Scene) => ann, ({ below }: Scene) => below],
    ['the creator itself', ({ anns }: Scene) => anns, ({ anns }: Scene) => anns],
  ])('%s leads the swarm and is a member of its group [SOC-80]', async (_, by, lead) => {
    await using scene = await openScene();
    const leader = lead(scene);
    await by(scene).createSwarm(manifest(leader.id));
    expect(Object.keys(await scene.office.group('crew').members())).toContain(leader.id);
    expect(await scene.world.kernel.table([ENTITY, leader.id], 'leads')).toEqual([]);
    expect((await scene.world.verify()).unverified).toBe(0);
  });
});

describe('a group that a cell of the app owns', () => {
  async function owned() {
    const scene = await openScene();
    const from: Address = ['test/Desk@1', 'desk'];
    const sends = async (name: string, value: object) => {
      await scene.world.kernel.request(from, {
        name: 'test/Send@1',
        value: { to: ['society/Group@1', 'club'], name, value: value as Value },
      });
    };
    await sends('society/OpenGroup@1', { kind: 'group', culture: {} });
    return { ...scene, sends };
  }

  it('the owner of a group makes no agent a member: nothing of the group reaches it [SOC-80]', async () => {
    await using scene = await owned();
    await scene.sends('society/Join@1', { entity: scene.anns.id, role: 'member' });
    expect(await scene.office.group('club').members()).toEqual({});
    expect(await scene.world.kernel.table([ENTITY, scene.anns.id], 'memberships')).toEqual([]);
    expect(await scene.world.kernel.table([ENTITY, scene.anns.id], 'terms')).toEqual([]);
  });

  it('the owner of a group changes the role of a member that the app has added, and after the member has left adds it no more [SOC-80]', async () => {
    await using scene = await owned();
    const club = scene.office.group('club');
    await club.join(scene.anns.id);
    await scene.sends('society/Join@1', { entity: scene.anns.id, role: 'admin' });
    expect(await club.members()).toEqual({ [scene.anns.id]: 'admin' });
    await club.leave(scene.anns.id);
    await scene.sends('society/Join@1', { entity: scene.anns.id, role: 'admin' });
    expect(await club.members()).toEqual({});
  });
});
