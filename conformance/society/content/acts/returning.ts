/** Agents bring back what they found elsewhere; it is staged, read by some, merged or reviewed. */
import { createHash } from 'node:crypto';
import { proofBytes } from 'reprise/society';
import type { Node } from '../../oracle.js';
import { GROUPS, type Life, type Member, short } from '../life.js';
import { stateOf, stored } from './items.js';
import { listed } from './reading.js';
import { narrowsOne } from './rights.js';

const SUBJECTS = ['one', 'two'] as const;

/** An item that is brought back. */
export interface Brought {
  readonly canary: string;
  readonly group: string;
  readonly isDoubted: boolean;
  readonly subject?: string | undefined;
}

/** What a return came to, as the agent is told. */
export interface Came {
  readonly staging_group_id: string;
  readonly divergence: number | null;
  readonly conflicts: readonly { readonly item: string; readonly with: string }[];
  readonly merged: boolean;
}

/** The sessions since the base; undefined for a base that the world does not know. */
const SESSIONS = [1, 1, 2, 3, 7, undefined] as const;

/** Those of an agent of high trust: few enough, more often than not, for a merge without a review. */
const NEAR = [1, 1, 1, 2, 2, 3] as const;

/** An agent comes back with some items. */
export async function comesBack(life: Life): Promise<void> {
  const { d, expected } = life;
  const ones = life.agents.filter(({ node }) => canComeBack(life, node));
  if (ones.length === 0) return;
  const trusted = ones.filter(({ node }) => node.tier === 3);
  const { node } = trusted.length > 0 && !d.once(4) ? d.of(trusted) : d.of(ones);
  if (node.tier === 3 && d.once(4)) await narrowsOne(life, node); // then its parent has to decide
  const sessions = d.of(node.tier === 3 ? NEAR : SESSIONS);
  const own = GROUPS.filter((group) => node.members[group] !== undefined);
  const groups = node.tier === 3 && own.length > 0 && !d.once(4) ? own : GROUPS;
  const known = node.tier === 3 && d.once(2) ? aboutSubjects(life, own) : [];
  const items = Array.from({ length: 1 + d.below(3) }, (): Brought => {
    const { group, subject } = known.length > 0 ? d.of(known) : {};
    return {
      ...{ canary: life.canary(), group: group ?? d.of(groups), isDoubted: d.once(8) },
      subject: subject ?? (d.once(2) ? d.of(SUBJECTS) : undefined),
    };
  });
  const conflicts = conflictsOf(life, expected.parent(node), items);
  const came = await returned(life, node, items, sessions);
  await arrived(life, node, items, { came, conflicts });
  life.did('come back');
}

/** What some groups say about subjects: an agent that says something else about one of them is not merged without a review. */
function aboutSubjects(
  { expected }: Life,
  groups: readonly string[],
): readonly { readonly group: string; readonly subject: string }[] {
  return [...expected.items.values()].flatMap(({ store, subject, state }) => {
    const group = store.slice('group:'.length);
    return subject !== undefined && state === 'live' && groups.includes(group) ? [{ group, subject }] : [];
  });
}

/** Whether an agent can hand something to its parent now. */
export function canComeBack({ expected }: Life, node: Node): boolean {
  return node.kind !== 'swarm-worker' && expected.operates(node) && expected.operates(expected.parent(node));
}

async function returned(
  life: Life,
  node: Node,
  brought: readonly Brought[],
  sessions: number | undefined,
): Promise<Came> {
  const { kernel } = life.scene.world;
  const asker = life.person(node).entity;
  const { nonce } = await asker.challenge(node.id, 'return');
  const { chain } = (await kernel.state(['society/L1@1', node.id])) as unknown as {
    readonly chain: { readonly hash: string; readonly count: number };
  };
  const count = chain.count + (sessions ?? 1);
  const hash = createHash('sha256').update(`${nonce} ${count}`).digest('hex');
  const base = sessions === undefined ? 'f'.repeat(64) : chain.hash;
  const items = brought.map(({ canary, group, isDoubted, subject }) => ({
    ...{ store: `group:${group}`, type: 'note', tags: [], content: createHash('sha256').update(canary).digest('hex') },
    ...(isDoubted ? { confidence_ppm: 100_000 } : {}),
    ...(subject === undefined ? {} : { subject_key: subject }),
  }));
  const bytes = proofBytes({ world: kernel.id, agent: node.id, nonce, purpose: 'return', hash, count, base, items });
  const memories = brought.map(({ canary, group, isDoubted, subject }) => ({
    ...{ group, type: 'note', content: canary },
    ...(isDoubted ? { confidence: 0.1 } : {}),
    ...(subject === undefined ? {} : { subject_key: subject }),
  }));
  const { is_error, value } = await asker.answerTo('agent_return', {
    ...{ agent_id: node.id, nonce, chain_hash: hash, session_count: count, base_hash: base, memories },
    signature: await life.scene.keys.sign(`ed25519.${node.id}`, bytes),
  } as never);
  if (is_error)
    life.disagree(`the return of ${short(node)} is refused: ${JSON.stringify(value)}, expected to be staged`);
  return value as unknown as Came;
}

/** What the targets say else about the same subjects; the first item of each that the parent may read. */
export function conflictsOf(life: Life, parent: Node, brought: readonly Brought[]): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const [n, { group, subject, canary }] of brought.entries()) {
    const known = subject === undefined ? [] : life.expected.about(`group:${group}`, subject);
    const first = known.find((id) => life.expected.items.get(id)?.canary !== canary); // a copy of the same says nothing else
    if (first !== undefined && life.expected.reads(parent, `group:${group}`, life.now)) found.set(n + 1, first);
  }
  return found;
}

/**
 * What was brought back is staged, or merged at once. The agent hears of the conflicts that it may see, and its parent, who
 * decides, is shown those that the parent may.
 */
export async function arrived(
  life: Life,
  node: Node,
  brought: readonly Brought[],
  { came, conflicts }: { readonly came: Came; readonly conflicts: ReadonlyMap<number, string> },
): Promise<void> {
  if (life.isOver) return;
  const { expected } = life;
  const parent = expected.parent(node);
  const store = `staging:${came.staging_group_id.slice('staging-'.length).replace('-', '.')}`;
  const shown = [...conflicts.values()].filter((id) => mayReadItem(life, node, id));
  life.is(`the conflicts of ${store}`, came.conflicts.map((one) => one.with).join(), shown.join());
  life.say(
    `${short(node)} brings back ${brought.map(({ canary, group }) => `${canary} for ${group}`).join()} in ${store}`,
  );
  const items = brought.map(({ canary, group, isDoubted, subject }, n) => {
    const id = `${store}#${n + 1}`;
    stored(life, id, { author: node.id, store, canary, subject, state: 'live' });
    return { id, group, isDoubted };
  });
  const forced = came.divergence === null || came.divergence > 5;
  const unread = brought.some(({ group }) => !expected.reads(parent, `group:${group}`, life.now));
  const maybe = mergesAlone(life, node, brought, { came, isClear: conflicts.size === 0 && !unread });
  const isWhole = brought.every(({ group }) => expected.writes(parent, `group:${group}`, life.now)); // else some stay staged
  if (maybe !== undefined)
    life.is(`the return of ${short(node)} is merged without a review`, came.merged, maybe && isWhole);
  const isMerged = maybe ?? came.merged;
  expected.stage(store, { agent: node.id, parent: parent.id, forced, items, left: items.map(({ id }) => id) });
  if (!isMerged) return showsConflicts(life, parent, store, conflicts);
  life.did('merge without a review');
  decide(
    life,
    store,
    items.map(({ id }) => id),
    node.id,
  );
}

/** Beside each item that waits, a parent is shown what its target says else. */
async function showsConflicts(
  life: Life,
  { id }: Node,
  store: string,
  conflicts: ReadonlyMap<number, string>,
): Promise<void> {
  const { memory } = life.member(id).entity;
  const { items } = await memory.list(`staging-${store.slice('staging:'.length).replace('.', '-')}`);
  const shown = items.map(({ conflicts_with }) => conflicts_with ?? '-');
  const wanted = items.map((_, n) => conflicts.get(n + 1) ?? '-');
  life.is(`conflicts beside the items of ${store}`, shown.join(), wanted.join());
}

function mayReadItem(life: Life, node: Node, id: string): boolean {
  return life.expected.reads(node, life.expected.items.get(id)?.store ?? '', life.now);
}

/** Whether a return is merged without a review; undefined where it depends on whether the agent was narrowed. */
function mergesAlone(
  life: Life,
  node: Node,
  brought: readonly Brought[],
  { came, isClear }: { readonly came: Came; readonly isClear: boolean },
): boolean | undefined {
  const { expected } = life;
  const isNear = came.divergence !== null && came.divergence <= 2;
  const mayWrite = brought.every(({ group }) => {
    return (
      node.members[group] !== undefined &&
      node.members[group] !== 'viewer' &&
      expected.writes(node, `group:${group}`, life.now)
    );
  });
  if (!isNear || node.tier !== 3 || !mayWrite || !isClear) return false;
  const narrowed = expected.wasNarrowed(node);
  return narrowed === undefined ? undefined : !narrowed;
}

/** Approved items are written with the rights of the parent of this moment; what it may not write stays staged. */
function decide(life: Life, store: string, approved: readonly string[], author?: string): void {
  const { expected } = life;
  const staged = expected.staged.get(store);
  if (staged === undefined) return;
  const parent = expected.node(staged.parent);
  const refused: string[] = [];
  for (const id of approved) {
    const item = expected.items.get(id);
    const { group = '', isDoubted = false } = staged.items.find((one) => one.id === id) ?? {};
    const to = `group:${group}`;
    if (item === undefined || !expected.writes(parent, to, life.now)) {
      refused.push(id);
      continue;
    }
    const copy = `${to}#${1 + [...expected.items.values()].filter((one) => one.store === to).length}`;
    const { canary, subject } = item;
    stored(life, copy, { author: author ?? parent.id, store: to, canary, subject, ...stateOf(isDoubted) });
    life.say(`${short(parent)} takes ${id} over as ${copy}`);
    if (!isDoubted) expected.wrote(author === undefined ? [parent.id] : [parent.id, author], group, copy, life.now);
  }
  staged.left = refused;
  if (refused.length === 0) expected.unstage(store);
}

/** A parent decides on what waits: all of it, some of it, or none. */
export async function reviews(life: Life): Promise<void> {
  const { d, expected } = life;
  const waiting = [...expected.staged].filter(([, { parent }]) => expected.operates(expected.node(parent)));
  if (waiting.length === 0) return;
  const [store, { parent, forced, left }] = d.of(waiting);
  const { node, entity } = life.member(parent);
  const staging_group_id = `staging-${store.slice('staging:'.length).replace('.', '-')}`;
  const decision = d.of(['approve', 'approve', 'partial', 'reject'] as const);
  const items = decision === 'partial' ? d.some(left) : [];
  const approved = decision === 'approve' ? left : items;
  const args = { staging_group_id, decision, ...(decision === 'partial' ? { items } : {}) };
  const { is_error, value } = await entity.answerTo('staging_review', args as never);
  life.did('review', forced && decision === 'approve');
  if (forced && decision === 'approve') return life.is(`${short(node)} approves a forced review`, is_error, true);
  const writable = approved.filter((id) => mayTakeOver(life, node, store, id));
  const told = value as { readonly copied?: readonly string[]; readonly refused?: readonly unknown[] };
  life.say(`${short(node)} decides ${decision} ${approved.join()} on ${store}`);
  life.is(`items of ${store} that are taken over`, told.copied?.length ?? 0, writable.length);
  decide(life, store, approved);
}

function mayTakeOver({ expected, now }: Life, parent: Node, store: string, id: string): boolean {
  const group = expected.staged.get(store)?.items.find((one) => one.id === id)?.group;
  return expected.writes(parent, `group:${group}`, now);
}

/** An entity reads what an agent has brought back: the agent, and its parent until it has decided. */
export async function readsStaging(life: Life): Promise<void> {
  const { d, expected } = life;
  const stores = [...new Set([...expected.items.values()].map(({ store }) => store))].filter((one) =>
    one.startsWith('staging:'),
  );
  if (stores.length === 0) return;
  const store = d.of(stores);
  const [agent = '', n = ''] = store.slice('staging:'.length).split('.');
  const near = life.acting.filter(({ node }) => node.id === agent || node.id === expected.staged.get(store)?.parent);
  const reader: Member = near.length > 0 && d.once(2) ? d.of(near) : d.of(life.acting);
  await listed(life, reader, `staging-${agent}-${n}`, store);
}
