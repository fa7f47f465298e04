/** Items are written, shared, validated, archived and erased. */
import type { Ref } from 'reprise/kernel';
import type { Node } from '../../oracle.js';
import type { Item } from '../expected.js';
import { GROUPS, type Life, type Member, short } from '../life.js';

const INBOX = 'society://inbox/';
const SUBJECTS = ['one', 'two'] as const;

/** An entity writes an item to one of its groups, or for itself; one of low confidence is kept and told to nobody. */
export async function writes(life: Life): Promise<void> {
  const { d, people, acting } = life;
  const writer = d.once(3) ? d.of(acting) : d.of(people);
  const groups = Object.keys(writer.node.members).filter((group) => group !== 'judged');
  if (groups.length === 0 || (d.once(8) && writer.node.kind !== 'swarm-worker')) return writesPrivately(life, writer);
  return writesTo(life, writer, d.once(12) ? d.of(GROUPS) : d.of(groups));
}

/** An entity writes an item to a group. */
export async function writesTo(life: Life, { node, entity }: Member, group: string): Promise<void> {
  const { d, expected, scene } = life;
  const canary = life.canary();
  const isDoubted = d.once(6);
  const subject = d.once(3) ? d.of(SUBJECTS) : undefined;
  const before = scene.world.kernel.head.seq;
  const args = {
    ...{ type: 'note', content: canary, visibility: 'group', group },
    ...(isDoubted ? { confidence: 0.1 } : {}),
    ...(subject === undefined ? {} : { subject_key: subject }),
  };
  const isAllowed = expected.writes(node, `group:${group}`, life.now);
  const { is_error, value } = await entity.answerTo('memory_write_warm', args as never);
  life.did('write', !isAllowed);
  life.is(`${short(node)} writes to ${group}`, !is_error, isAllowed);
  if (is_error) return;
  const { item_id } = value as { readonly item_id: string };
  life.say(`${short(node)} writes ${canary} as ${item_id}${isDoubted ? ', in doubt' : ''}`);
  stored(life, item_id, { author: node.id, store: `group:${group}`, canary, subject, ...stateOf(isDoubted) });
  const told = isDoubted ? new Set<string>() : expected.told(node.id, group, life.now);
  if (!isDoubted) expected.wrote([node.id], group, item_id, life.now);
  life.same(`clients told of ${item_id}`, await toldSince(life, before), told);
}

async function writesPrivately(life: Life, { node, entity }: Member): Promise<void> {
  const store = `private:${node.id}`;
  const isAllowed = life.expected.writes(node, store, life.now);
  const canary = life.canary();
  const args = { type: 'note', content: canary, visibility: 'private' } as const;
  const { is_error, value } = await entity.answerTo('memory_write_warm', args);
  life.did('write for itself', !isAllowed);
  life.is(`${short(node)} writes for itself`, !is_error, isAllowed);
  if (is_error) return;
  const { item_id } = value as { readonly item_id: string };
  life.say(`${short(node)} writes ${canary} as ${item_id}`);
  stored(life, item_id, { author: node.id, store, canary, state: 'live' });
}

/** An item stands in a store from now on. */
export function stored(life: Life, id: string, item: Item): void {
  life.expected.items.set(id, item);
}

/** In doubt an item is quarantined. */
export function stateOf(isDoubted: boolean): Pick<Item, 'state' | 'isDoubted'> {
  return { state: isDoubted ? 'quarantined' : 'live', isDoubted };
}

/** The entities whose clients are told that their inboxes have changed, in the frames after a number. */
async function toldSince({ scene: { world, inbox } }: Life, before: number): Promise<ReadonlySet<string>> {
  const { kernel } = world;
  const told = new Set<string>();
  for await (const frame of kernel.frames(before + 1)) {
    for (const uri of (await inbox?.changed?.(frame)) ?? []) told.add(uri.slice(INBOX.length));
    if (frame.seq >= kernel.head.seq) break;
  }
  return told;
}

/** An entity copies an item into a group: it must read the one store, and write to the other. */
export async function shares(life: Life): Promise<void> {
  const { d, expected } = life;
  if (expected.items.size === 0) return;
  const { node, entity } = d.once(2) ? d.of(life.acting) : d.of(life.people);
  const [item, about] = d.of([...expected.items]);
  const groups = Object.keys(node.members).filter((one) => one !== 'judged');
  const group = groups.length === 0 || d.once(8) ? d.of(GROUPS) : d.of(groups);
  const to = `group:${group}`;
  if (about.store === to || about.isArchive === true) return; // of an archive the first words are others than its words
  const reads = expected.reads(node, about.store, life.now);
  const isAllowed = reads && about.state === 'live' && expected.writes(node, to, life.now);
  const { is_error, value } = await entity.answerTo('memory_share', { item_id: item, group_id: group });
  life.did('share', !reads);
  life.is(`${short(node)} shares ${item} to ${group}`, !is_error, isAllowed);
  if (is_error) return;
  const { item_id } = value as { readonly item_id: string };
  if (expected.items.has(item_id)) return;
  life.say(`${short(node)} shares ${item} as ${item_id}`);
  const { canary, subject } = about;
  stored(life, item_id, { author: node.id, store: to, canary, subject, state: 'live' });
  expected.wrote([node.id], group, item_id, life.now);
}

/** An entity validates an item that another one has in doubt, and not one that it works for: from then on it is found. */
export async function validates(life: Life): Promise<void> {
  const { d, expected } = life;
  const doubted = [...expected.items].filter(
    ([, { state, store }]) => state === 'quarantined' && store.startsWith('group:'),
  );
  if (doubted.length === 0) return;
  const [id, item] = d.of(doubted);
  const { node, entity } = d.once(2) ? d.of(life.acting) : d.of(life.people);
  const author = expected.node(item.author);
  const isOfSwarm = [...expected.swarms.values()].some(
    ({ creator, workers }) => creator === node.id && workers.includes(item.author),
  );
  const isAllowed = !expected.isAtOrAbove(author, node) && !isOfSwarm && mayMove(life, node, item);
  const { is_error } = await entity.answerTo('memory_validate', { item_id: id });
  life.did('validate', !isAllowed);
  life.is(`${short(node)} validates ${id}`, !is_error, isAllowed);
  if (is_error) return;
  item.state = 'live';
  life.say(`${short(node)} validates ${id}`);
}

function mayMove({ expected, now }: Life, node: Node, { store }: Item): boolean {
  return expected.reads(node, store, now) && expected.writes(node, store, now);
}

/** An item leaves the use of its store, or its words are erased: no request has them any more. */
export async function archivesOrErases(life: Life): Promise<void> {
  return life.d.once(2) ? archives(life) : erases(life);
}

async function archives(life: Life): Promise<void> {
  const live = [...life.expected.items].filter(
    ([, { state, store }]) => state === 'live' && store.startsWith('group:'),
  );
  if (live.length === 0) return;
  const [id, item] = life.d.of(live);
  const operation = { op: 'move', id: numberOf(id), state: 'archived' };
  await life.scene.world.kernel.request(['memory/Store@1', item.store], {
    name: 'memory/Say@1',
    value: { operation, tag: `archive ${id}` } as never,
  });
  item.state = 'archived';
  life.did('archive');
  life.say(`${id} is archived`);
}

async function erases(life: Life): Promise<void> {
  if (life.expected.items.size === 0) return;
  const [id, { store, canary }] = life.d.of([...life.expected.items]);
  const { kernel } = life.scene.world;
  const rows = await kernel.table(['memory/Store@1', store], 'items');
  const row = rows.find(([n]) => Number(n) === numberOf(id))?.[1];
  const { content_ref, summary_ref } = row as unknown as { readonly content_ref: Ref; readonly summary_ref: Ref };
  await kernel.erase({ refs: [content_ref, summary_ref] });
  life.expected.erased.add(canary);
  life.did('erase');
  life.say(`${canary} is erased`);
}

function numberOf(item: string): number {
  return Number(item.slice(item.lastIndexOf('#') + 1));
}
