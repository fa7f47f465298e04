/** Opens a world: two people, some agents below them, groups of several cultures, and who belongs to them. */
import type { AgentRegister, Capabilities } from 'reprise/society';
import type { Draws } from '../draws.js';
import { draws } from '../draws.js';
import type { Caps, Node } from '../oracle.js';
import { PERSON } from '../worlds/grown.js';
import { judgesRight } from './acts/rights.js';
import { DESK } from './desk.js';
import { type Eagerness, Expected } from './expected.js';
import { seededVault } from './keys.js';
import { CLUB, type FoundContent, GROUPS, JUDGED, Life, type Member, readingOf } from './life.js';
import { openScene } from './scene.js';

const EAGERNESS: readonly Eagerness[] = ['chatty', 'chatty', 'moderate', 'moderate', 'taciturn'];
const AGENTS = 4;

/** One world in so many has an agent of high trust, whose returns may be merged without a review. */
const TRUSTED = 5;

const KINDS = ['custom', 'custom', 'autonomous', 'claude-code'] as const;

/** Opens the world of a seed. */
export async function openLife(seed: number, found: FoundContent): Promise<Life> {
  const d = draws(seed);
  const scene = await openScene({ keys: seededVault(seed) });
  const expected = new Expected();
  const life = new Life({
    shared: { seed, d, found, history: [], canaries: 0, done: 0, disagrees: false },
    ...{ scene, members: [], expected },
  });
  await openGroups(life);
  for (const id of ['ann', 'ben']) add(life, { ...PERSON, id });
  for (const { node } of life.people) await scene.office.human(node.id);
  for (let n = 2 + d.below(AGENTS - 1); n > 0; n--) await register(life);
  for (const member of life.members) await settle(life, member);
  const trusted = life.agents.find(({ node }) => node.parent === 0 && node.kind === 'custom');
  if (trusted !== undefined && d.once(TRUSTED)) await judgesRight(life, trusted);
  return life;
}

async function openGroups({ scene: { office, world }, expected, d }: Life): Promise<void> {
  for (const group of [...GROUPS, JUDGED]) {
    const eagerness = group === JUDGED ? 'taciturn' : d.of(EAGERNESS);
    await office.group(group).open({ culture: { broadcast_eagerness: eagerness } });
    expected.groups.set(group, { eagerness, posts: [], isOpen: true });
  }
  const opening = { to: ['society/Group@1', CLUB], name: 'society/OpenGroup@1', value: { kind: 'group', culture: {} } };
  await world.kernel.request([...DESK], { name: 'test/Send@1', value: opening });
  expected.groups.set(CLUB, { eagerness: 'chatty', posts: [], isOpen: true }); // as small groups are
}

/** An entity that there is from now on. */
export function add(life: Life, node: Node): Member {
  const member = { node, entity: life.scene.office.entity(node.id) };
  life.members.push(member);
  life.expected.tree.push(node);
  life.expected.begins(node, life.now);
  return member;
}

async function register(life: Life): Promise<void> {
  const { d, expected } = life;
  const above = life.agents.filter(({ node }) => expected.tree.indexOf(node) >= 2);
  const parent =
    above.length > 0 && d.once(3) ? d.of(above) : d.of([life.member('ann'), life.member('ann'), life.member('ben')]);
  const isWide = parent.node.kind !== 'person' || !d.once(3);
  const kind = d.of(KINDS);
  const caps = isWide ? {} : limitsOf(d);
  const { agent_id } = await parent.entity.register({
    ...{ agentType: kind, displayName: `Agent ${life.members.length}`, automerge: true },
    capabilities: caps as unknown as Capabilities,
  } as AgentRegister);
  const place = { parent: expected.tree.indexOf(parent.node), kind, declared: caps };
  add(life, { ...PERSON, id: agent_id, ...place });
  await parent.entity.setStatus(agent_id, 'activate');
  life.say(`${agent_id.slice(0, 6)} is ${kind} below ${parent.node.id.slice(0, 6)}, with ${JSON.stringify(caps)}`);
}

/** What an agent may do from its beginning. */
function limitsOf(d: Draws): Caps {
  if (d.once(2)) return readingOf(d);
  return { ...readingOf(d), memory_write: { ...readingOf(d).memory_read } };
}

/** An entity joins its groups. */
async function settle(life: Life, { node }: Member): Promise<void> {
  for (const group of [...GROUPS, JUDGED, CLUB]) {
    const isIn = isAtFirst(life, node, group);
    if (isIn) await joins(life, node, group, node.id !== 'ann' && life.d.once(8) ? 'viewer' : 'member');
  }
}

/** Items are judged by Ann alone, so that her agents and she write there. */
function isAtFirst({ d }: Life, { id, kind, parent }: Node, group: string): boolean {
  if (group === CLUB) return d.once(4);
  if (group === JUDGED) return id === 'ann' || parent === 0;
  return kind === 'person' || !d.once(4);
}

/** The app makes an entity a member of a group. */
export async function joins(life: Life, node: Node, group: string, role: 'member' | 'viewer'): Promise<void> {
  await life.scene.office.group(group).join(node.id, role);
  node.members = { ...node.members, [group]: role };
  life.expected.joined(node, group);
  life.say(`${node.id.slice(0, 6)} joins ${group} as ${role}`);
}
