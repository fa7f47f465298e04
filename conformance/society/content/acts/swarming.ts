/** Swarms: who may lead one, what its agents are told and say, and who is told of it. */
import type { JournalRecord } from '@reprise/contracts';
import type { Node } from '../../oracle.js';
import { PERSON } from '../../worlds/grown.js';
import { DESK } from '../desk.js';
import type { Eagerness } from '../expected.js';
import { CLUB, type Life, type Member, short, worded } from '../life.js';
import { add } from '../opening.js';
import { canariesIn } from '../provider.js';
import { listed } from './reading.js';

const SWARMS = 2;
const EAGERNESS: readonly Eagerness[] = ['chatty', 'chatty', 'moderate', 'taciturn'];

/** An entity creates a swarm under a coordinator of any kind: of its own, a foreign one, or one that does not exist. */
export async function creates(life: Life): Promise<void> {
  const { d, expected } = life;
  const creators = life.acting.filter(
    ({ node }) => node.kind !== 'swarm-worker' && depthOf(life, node) < 3 && !life.isRunning(node),
  );
  const creator = d.once(2) ? d.of(life.people) : d.of(creators);
  if (expected.swarms.size >= SWARMS) return;
  const id = `s${expected.groups.size}`;
  const leads = life.members.filter(({ node }) => node.kind !== 'person' && !node.failed);
  const below = leads.filter(({ node }) => expected.isAtOrAbove(creator.node, node));
  const lead = d.once(8) ? undefined : d.of(below.length > 0 && d.once(2) ? below : [...leads, undefined])?.node;
  const canary = life.canary();
  const eagerness = d.of(EAGERNESS);
  const manifest = {
    ...{ swarm_id: id, goal: canary, strategy: 'hierarchical', culture: { broadcast_eagerness: eagerness } },
    coordinator_agent_id: lead?.id ?? 'f'.repeat(64),
    agents: [{ slot: 'worker', agent_type: 'swarm-worker', capabilities: {}, count: 1 + d.below(2) }],
  };
  const refusal = refusalOf(life, creator.node, lead, id);
  const before = life.scene.world.kernel.head.seq;
  const { is_error, value } = await creator.entity.answerTo('swarm_create', manifest as never);
  const {
    code,
    error,
    agents = [],
  } = value as {
    readonly code?: string;
    readonly error?: string;
    readonly agents?: readonly { readonly agent_id: string }[];
  };
  life.did('create a swarm', refusal !== undefined);
  life.say(`${short(creator.node)} creates ${id} under ${lead?.id.slice(0, 6)}: ${refusal ?? 'made'}`);
  life.is(
    `${short(creator.node)} creates ${id} under ${lead?.id.slice(0, 6)}`,
    is_error ? (code ?? error) : undefined,
    refusal,
  );
  if (life.isOver) return;
  if (refusal !== undefined) return refusedSwarm(life, id, { before, of: lead?.id ?? '-', by: creator.node.id });
  expected.groups.set(id, { eagerness, posts: [], isOpen: true });
  const workers = agents.map(({ agent_id }) => agent_id);
  expected.swarms.set(id, {
    ...{ creator: creator.node.id, lead: lead?.id ?? '', workers, goal: canary },
    said: [],
    isOver: false,
  });
  enters(life, creator.node, id, 'owner');
  if (lead !== undefined && lead !== creator.node) enters(life, lead, id, 'member');
  const parent = expected.tree.indexOf(creator.node);
  for (const worker of workers) {
    const { node } = add(life, { ...PERSON, id: worker, parent, kind: 'swarm-worker', swarm: id });
    enters(life, node, id, 'member');
    await creator.entity.setStatus(worker, 'activate');
  }
}

function enters({ expected }: Life, node: Node, group: string, role: string): void {
  node.members = { ...node.members, [group]: role };
  expected.joined(node, group);
}

function depthOf({ expected }: Life, node: Node): number {
  return node.parent < 0 ? 0 : 1 + depthOf({ expected } as Life, expected.parent(node));
}

/** Why a swarm is refused: who leads it stands at or below its creator, acts, and may use its group. */
function refusalOf(life: Life, creator: Node, lead: Node | undefined, group: string): string | undefined {
  const { expected } = life;
  if (!expected.uses(creator, group, life.now)) return 'capability_denied';
  if (lead === creator) return undefined;
  if (lead === undefined || lead.kind === 'person' || !expected.isAtOrAbove(creator, lead)) return 'not_authorized';
  if (!expected.operates(lead)) return 'agent_not_active';
  return expected.uses(lead, group, life.now) ? undefined : 'capability_denied';
}

/** A refusal makes nothing, and sends the coordinator nothing but the question. */
async function refusedSwarm(
  life: Life,
  id: string,
  sent: { readonly before: number; readonly of: string; readonly by: string },
): Promise<void> {
  const { kernel } = life.scene.world;
  life.is(`the swarm ${id}`, await kernel.state(['society/Swarm@1', id]), undefined);
  life.is(`the group ${id}`, await kernel.state(['society/Group@1', id]), undefined);
  if (sent.of !== sent.by) life.is(`what ${sent.of.slice(0, 6)} was sent`, (await takenSince(life, sent)).join(), '');
}

/** What cells of an entity were sent and took after a frame: those of its key, and those below it. */
async function takenSince(
  { scene }: Life,
  { before, of }: { readonly before: number; readonly of: string },
): Promise<readonly string[]> {
  const { kernel } = scene.world;
  const taken: string[] = [];
  if (kernel.head.seq === before) return taken;
  for await (const { seq, records } of kernel.frames(before + 1)) {
    taken.push(...records.flatMap((record) => takenBy(of, record)));
    if (seq >= kernel.head.seq) break;
  }
  return taken;
}

/** What asks an entity whether it takes part: it answers, and takes nothing else. */
const QUESTIONS = ['society/Lead@1', 'society/Membership@1'];

function takenBy(id: string, record: JournalRecord): readonly string[] {
  if (record.kind === 'fact') return record.from?.[1].startsWith(id) === true ? [record.name] : [];
  if (record.kind !== 'event' || !record.to[1].startsWith(id)) return [];
  return QUESTIONS.includes(record.event.name) ? [] : [record.event.name];
}

/** The app's cell that owns a group names a member: one that the app or those above have not added is sent nothing. */
export async function invites(life: Life): Promise<void> {
  const ones = life.members.filter(({ node }) => !node.failed && node.status !== 'deactivated');
  const { node } = life.d.of(ones);
  const role = life.d.of(['member', 'viewer'] as const);
  const isMember = node.members[CLUB] !== undefined;
  const before = life.scene.world.kernel.head.seq;
  const value = { to: ['society/Group@1', CLUB], name: 'society/Join@1', value: { entity: node.id, role } };
  await life.scene.world.kernel.request([...DESK], { name: 'test/Send@1', value });
  await life.scene.clock.settle();
  life.did('invite', !isMember);
  life.say(`the owner of ${CLUB} names ${short(node)} ${role}`);
  if (isMember) {
    life.expected.narrowed(node, role === 'viewer' && node.members[CLUB] !== 'viewer', life.now);
    node.members = { ...node.members, [CLUB]: role };
  }
  if (!isMember)
    life.is(`what ${short(node)} was sent by a group`, (await takenSince(life, { before, of: node.id })).join(), '');
  const rows = await life.scene.world.kernel.table(['society/Entity@1', node.id], 'memberships');
  const [, held] = rows.find(([group]) => group === CLUB) ?? [];
  life.is(`${CLUB} for ${short(node)}`, held, node.members[CLUB]);
  const members = await life.scene.office.group(CLUB).members();
  life.is(`${short(node)} in ${CLUB}`, members[node.id], node.members[CLUB]);
}

/** A coordinator delegates a task: its worker is told the goal and the task, and no item of a store. */
export async function delegates(life: Life): Promise<void> {
  const { d, expected, scene } = life;
  const swarms = [...expected.swarms].filter(([, { lead, isOver, workers }]) => {
    const all = [lead, ...workers].map((id) => expected.node(id));
    return !isOver && all.every((node) => expected.operates(node) && !life.isRunning(node));
  });
  if (swarms.length === 0 || life.members.some(({ node }) => life.isRunning(node))) return;
  const [id, swarm] = d.of(swarms);
  const { entity } = life.member(swarm.lead);
  const [task, words] = [life.canary(), life.canary()];
  const before = scene.provider.bodies.length;
  scene.provider.answers.push({ says: words });
  const call = (args: object) => entity.answerTo('swarm_task', { swarm_id: id, ...args } as never);
  const asked = await call({ action: 'delegate', slot: 'worker', task });
  life.is(`${id} takes a task`, asked.is_error ? JSON.stringify(asked.value) : '', '');
  if (life.isOver) return;
  const reports = await worded(entity, 'swarm_task', { swarm_id: id, action: 'collect' });
  life.is(`the report on ${task}`, reports.text.includes(words), true);
  const bodies = scene.provider.bodies.slice(before);
  life.is(`requests for a task of ${id}`, bodies.length, 1);
  life.same(`the request for a task of ${id}`, canariesIn(bodies.join()), new Set([swarm.goal, task]));
  swarm.said.push(words);
  life.did('delegate');
  life.say(`${id} delegates ${task}, and hears ${words}`);
}

/** An entity asks how far a swarm is: those above it and its agents read what was said, no other learns that it exists. */
export async function asksOfSwarm(life: Life): Promise<void> {
  const { d, expected } = life;
  if (expected.swarms.size === 0) return;
  const [id, { creator, lead, workers, said }] = d.of([...expected.swarms]);
  const { node, entity }: Member = d.of(life.acting);
  const isPart = node.id === lead || workers.includes(node.id) || expected.isAtOrAbove(node, expected.node(creator));
  const { text, refused } = await worded(entity, 'swarm_status', { swarm_id: id });
  life.did('ask of a swarm', !isPart);
  life.is(`${short(node)} asks of ${id}`, refused, isPart ? undefined : 'swarm_unknown');
  for (const words of said)
    life.is(`${words} for ${short(node)}`, text.includes(words), isPart && !expected.erased.has(words));
}

/** Whether a swarm would fail with the end of an agent: it made the swarm, or leads it. */
function leadsAnother({ expected }: Life, id: string): boolean {
  return [...expected.swarms.values()].some(({ creator, lead, isOver }) => !isOver && (creator === id || lead === id));
}

/** A swarm ends: its agents end with it, and its group is read on, or has no members any more. */
export async function disbands(life: Life): Promise<void> {
  const { d, expected } = life;
  const swarms = [...expected.swarms].filter(
    ([, { creator, isOver, workers }]) =>
      !isOver &&
      expected.operates(expected.node(creator)) &&
      !workers.some((one) => life.isRunning(expected.node(one)) || leadsAnother(life, one)),
  );
  if (swarms.length === 0 || !d.once(2)) return;
  const [id, swarm] = d.of(swarms);
  const mode = d.of(['archive', 'delete'] as const);
  const { entity } = life.member(swarm.creator);
  const were = life.acting.filter(({ node }) => node.members[id] !== undefined && !swarm.workers.includes(node.id));
  const rights = were.map(({ node }) => [node, holdsIn(life, node, `group:${id}`)] as const);
  const { is_error } = await entity.answerTo('swarm_disband', { swarm_id: id, mode });
  life.is(`${id} is disbanded`, is_error, false);
  life.did('disband');
  life.say(`${id} is disbanded: ${mode}`);
  swarm.isOver = true;
  (expected.groups.get(id) as { isOpen: boolean }).isOpen = false;
  for (const worker of swarm.workers) expected.node(worker).status = 'deactivated';
  if (mode === 'delete') dissolves(life, id);
  for (const [node, held] of rights)
    expected.narrowed(node, held.writes || (mode === 'delete' && held.reads), life.now);
  if (were.length > 0) await listed(life, d.of(were), id, `group:${id}`);
}

/** What an agent may do in a store: with the end of its group an agent has less than before. */
function holdsIn({ expected, now }: Life, node: Node, store: string) {
  return { reads: expected.reads(node, store, now), writes: expected.writes(node, store, now) };
}

/** A group has no members any more. */
function dissolves({ expected }: Life, id: string): void {
  for (const node of expected.tree) {
    const { [id]: _, ...others } = node.members;
    node.members = others;
    expected.of(node.id).read.delete(id);
  }
}
