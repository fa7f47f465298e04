/** What entities may do changes: they are narrowed, judged, suspended, ended, fail, and join and leave groups. */

import type { Caps, Node } from '../../oracle.js';
import { CLUB, GROUPS, JUDGED, type Life, type Member, readingOf, short, worded } from '../life.js';
import { joins } from '../opening.js';
import { stateOf, stored } from './items.js';

/** A person narrows an agent below, or takes a narrowing back. */
export async function narrows(life: Life): Promise<void> {
  const { d } = life;
  if (life.agents.length === 0) return;
  const failed = life.agents.filter(({ node }) => node.failed);
  const { node } = failed.length > 0 && d.once(2) ? d.of(failed) : d.of(life.agents);
  if (node.kind !== 'swarm-worker') await narrowsOne(life, node);
}

/** The person above an agent narrows it, or takes a narrowing back. Of a failed agent it is cut from above. */
export async function narrowsOne(life: Life, node: Node): Promise<void> {
  const { d, expected } = life;
  const caps = d.once(4) && !node.failed ? null : readingFor(life, { node });
  const grant = d.once(5) ? readingFor(life, { node }) : undefined;
  const before = readable(life, { node });
  const { entity } = life.person(node);
  const change = {
    ...{ agent_id: node.id, capabilities: { memory_read: caps } },
    ...(grant === undefined ? {} : { grant: { memory_read: grant } }),
  };
  if ((await entity.answerTo('agent_capabilities', change as never)).is_error) return; // only a direct parent widens
  const granted = grant === undefined ? {} : { memory_read: grant };
  if (node.failed)
    node.cuts = [
      ...node.cuts,
      { capabilities: { memory_read: caps as never }, ...(grant === undefined ? {} : { grant: granted }) },
    ];
  else {
    Object.assign(node, changedBy(node, { memory_read: caps }, grant === undefined ? undefined : granted));
    node.cuts = [];
  }
  const isSure = before.some((group) => !readable(life, { node }).includes(group));
  expected.narrowed(node, isSure, life.now);
  life.did(node.failed ? 'narrow a failed agent' : 'narrow');
  life.say(
    `${short(node)} may read ${JSON.stringify(caps)}${grant === undefined ? '' : `, and hand on ${JSON.stringify(grant)}`}`,
  );
}

/** What a change makes of an agent: `null` takes a dimension back to what the parent has. */
export function changedBy(
  { declared, granted }: Node,
  { memory_read }: { readonly memory_read: Caps['memory_read'] | null },
  grant: Caps | undefined,
): Pick<Node, 'declared' | 'granted'> {
  const { memory_read: _, ...others } = declared;
  const own = memory_read === null || memory_read === undefined ? others : { ...others, memory_read };
  return { declared: own, ...(grant === undefined ? {} : { granted: { ...(granted ?? declared), ...grant } }) };
}

/** Only its parent lets a claude-code agent into the parent's private store. */
function readingFor({ d }: Life, { node }: Pick<Member, 'node'>): NonNullable<Caps['memory_read']> {
  const { memory_read } = readingOf(d);
  if (node.kind !== 'claude-code') return memory_read;
  return { ...memory_read, visibility: memory_read.visibility.filter((one) => one !== 'private') };
}

/** The groups of an entity that it may read now. */
export function readable({ expected, now }: Life, { node }: Pick<Member, 'node'>): readonly string[] {
  return Object.keys(node.members).filter((group) => expected.reads(node, `group:${group}`, now));
}

/** The app adds an entity to a group, or removes it. */
export async function moves(life: Life): Promise<void> {
  const { d, expected, scene } = life;
  const failed = life.agents.filter(({ node }) => node.failed);
  const workers = life.agents.filter(({ node }) => node.kind === 'swarm-worker');
  const living = workers.length > 0 && d.once(3) ? workers : [...life.agents, life.member('ben')];
  const { node } = d.of(failed.length > 0 && d.once(2) ? failed : living);
  const group = d.of([...GROUPS, CLUB, ...strangeSwarms(life, node.id)]);
  if (expected.groups.get(group)?.isOpen !== true || (node.failed && node.members[group] === undefined)) return;
  life.did(node.failed ? 'remove a failed member' : 'move');
  if (node.members[group] === undefined) return joins(life, node, group, d.once(6) ? 'viewer' : 'member');
  const wasReader = expected.reads(node, `group:${group}`, life.now);
  await scene.office.group(group).leave(node.id);
  const { [group]: _, ...others } = node.members;
  node.members = others;
  expected.left(node, group);
  expected.narrowed(node, wasReader, life.now);
  life.say(`${short(node)} leaves ${group}`);
}

/** The groups of swarms in which an entity has no part of its own. */
function strangeSwarms({ expected }: Life, id: string): readonly string[] {
  const strange = [...expected.swarms].filter(
    ([, { creator, lead, workers }]) => creator !== id && lead !== id && !workers.includes(id),
  );
  return strange.map(([group]) => group);
}

/** Wrong verdicts of a parent: with two the agent's tier falls to low. */
export async function judges(life: Life): Promise<void> {
  const ones = life.agents.filter(
    ({ node }) => node.parent === 0 && node.tier === 2 && node.kind !== 'swarm-worker' && life.expected.operates(node),
  );
  if (ones.length === 0) return;
  const member = life.d.of(ones);
  if (!life.expected.writes(member.node, `group:${JUDGED}`, life.now)) return;
  for (let n = 0; n < 2; n++) await judged(life, member, 'wrong');
  member.node.tier = 1;
  life.expected.narrowed(member.node, true, life.now);
  life.did('judge');
  life.say(`${short(member.node)} is judged low`);
}

/** Verdicts that lead to the tier high: 40 of 47 are above 0.85. */
const RIGHT = 27;

/** The parent judges many items of an agent right: its tier rises to high. */
export async function judgesRight(life: Life, member: Member): Promise<void> {
  if (!life.expected.writes(member.node, `group:${JUDGED}`, life.now)) return;
  for (let n = 0; n < RIGHT; n++) await judged(life, member, 'right');
  member.node.tier = 3;
  life.say(`${short(member.node)} is judged high`);
}

async function judged(life: Life, { node, entity }: Member, verdict: 'right' | 'wrong'): Promise<void> {
  const canary = life.canary();
  const item = { type: 'note', content: canary, visibility: 'group', group: JUDGED } as const;
  const { item_id } = await entity.memory.write(item);
  stored(life, item_id, { author: node.id, store: `group:${JUDGED}`, canary, ...stateOf(false) });
  life.expected.wrote([node.id], JUDGED, item_id, life.now);
  await life.member('ann').entity.assess(item_id, { verdict, basis: 'user' });
}

/** The person above suspends or resumes an agent. */
export async function suspends(life: Life): Promise<void> {
  const { expected } = life;
  const ones = life.agents.filter(({ node }) => !node.failed && !life.isRunning(node) && expected.operatesAbove(node));
  if (ones.length === 0) return;
  const { node } = life.d.of(ones);
  const isActive = node.status === 'active';
  if (isActive && life.isRunningBelow(node)) return;
  await life.person(node).entity.setStatus(node.id, isActive ? 'suspend' : 'resume');
  node.status = isActive ? 'suspended' : 'active';
  life.did('suspend or resume');
  life.say(`${short(node)} is ${node.status}`);
}

/** Whether an agent made a swarm, leads it or works in it. */
export function isOfSwarm({ expected }: Life, id: string): boolean {
  return [...expected.swarms.values()].some(({ creator, lead, workers }) => [creator, lead, ...workers].includes(id));
}

/** An agent is deactivated. Its archive has what its hot context said, and its parent alone reads both. */
export async function ends(life: Life): Promise<void> {
  const ones = life.agents.filter(
    ({ node }) =>
      !node.failed &&
      !life.hasBelow(node) &&
      !life.isRunning(node) &&
      !isOfSwarm(life, node.id) &&
      life.expected.operates(node),
  );
  if (ones.length === 0 || life.agents.length < 3 || !life.d.once(2)) return;
  const { node, entity } = life.d.of(ones);
  const parent = life.expected.parent(node);
  const canary = life.canary();
  await entity.writeL1({ active: { file: canary } }, (await entity.l1()).version);
  const readers = life.acting.filter((one) => one.node !== node);
  for (const one of readers) {
    const { text } = await worded(one.entity, 'memory_read_hot', { entity_id: node.id });
    life.is(`${short(one.node)} reads the hot context of ${short(node)}`, text.includes(canary), one.node === parent);
  }
  const person = life.person(node);
  const answer = await person.entity.answerTo('agent_deactivate', { agent_id: node.id });
  life.is(`${short(node)} is deactivated`, answer.is_error, false);
  node.status = 'deactivated';
  life.say(`${short(node)} is deactivated`);
  await life.scene.clock.settle();
  const { archive_item_id } = answer.value as { readonly archive_item_id: string };
  const own = `private:${parent.id}`;
  const isKept = life.expected.writes(parent, own, life.now);
  const n = 1 + [...life.expected.items.values()].filter(({ store }) => store === own).length;
  if (isKept) stored(life, `${own}#${n}`, { author: parent.id, store: own, canary, isArchive: true, state: 'live' });
  for (const one of readers) {
    const { text } = await worded(one.entity, 'memory_read_warm', { item_id: archive_item_id });
    const wanted = one.node === parent && isKept && life.expected.reads(parent, own, life.now);
    life.is(`${short(one.node)} reads the archive of ${short(node)}`, text.includes(canary), wanted);
  }
  life.did('deactivate');
}
