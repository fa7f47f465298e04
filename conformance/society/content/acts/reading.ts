/** Entities read: their inboxes, the stores of groups, single items, and what a search finds. */
import type { Entity } from 'reprise/society';
import type { Node } from '../../oracle.js';
import { GROUPS, type Life, type Member, principalOf, short, worded } from '../life.js';

const INBOX = 'society://inbox/';

/** The events of an inbox, by the tool or by the resource: exactly those that were to enter it. */
export async function polls(life: Life, { node, entity }: Member): Promise<void> {
  if (node.status === 'deactivated') return;
  const byResource = node.failed || life.d.once(2);
  if (!byResource && !life.expected.operates(node)) return;
  const seen = byResource ? await resource(life, node) : await polled(entity);
  if (!node.failed) life.expected.takesBoards(node, life.now);
  life.did('poll');
  life.expected.takesOrder(node, seen);
  life.is(`the inbox of ${short(node)}`, seen.join(), life.expected.of(node.id).inbox.join());
  if (!life.isOver && life.expected.operates(node) && life.d.once(3)) await looksAtItself(life, { node, entity });
}

/** The events that a hot context shows are the last ones of the inbox. Its maker, who reads the rest, sees none. */
async function looksAtItself(life: Life, { node, entity }: Member): Promise<void> {
  const { agent } = await entity.use('memory_read_hot', {});
  const news = newsIn(agent.event_queue);
  const { inbox } = life.expected.of(node.id);
  life.is(`the events of ${short(node)}`, news.join(), inbox.slice(inbox.length - news.length).join());
  const maker = life.expected.tree[node.parent];
  if (maker === undefined || node.kind === 'swarm-worker' || !life.expected.operates(maker)) return; // a swarm makes those
  const { agent: seen } = await life.member(maker.id).entity.use('memory_read_hot', { entity_id: node.id });
  life.is(`the events of ${short(node)} for its maker`, seen.event_queue.length, 0);
}

async function polled(entity: Entity): Promise<readonly string[]> {
  const news: string[] = [];
  for (let after = 0; ; ) {
    const { events, next } = await entity.use('events_poll', { after });
    news.push(...newsIn(events));
    if (events.length === 0) return news;
    after = next;
  }
}

async function resource(life: Life, node: Node): Promise<readonly string[]> {
  const { world, inbox } = life.scene;
  const read = (by: Node) => inbox?.read(world.kernel.as(principalOf(by)), `${INBOX}${node.id}`);
  const { node: other } = life.d.of(life.members.filter((one) => one.node.id !== node.id));
  life.is(`${short(other)} reads the inbox of ${short(node)}`, await read(other), undefined);
  const { events } = JSON.parse(new TextDecoder().decode(await read(node))) as { readonly events: readonly Told[] };
  return newsIn(events);
}

interface Told {
  readonly event: string;
  readonly payload: unknown;
}

/** News of items and of members, as the oracle names it. */
function newsIn(events: readonly Told[]): readonly string[] {
  return events.flatMap(({ event, payload }) => {
    const { item_id = '', entity_id = '', group_id = '' } = payload as Readonly<Record<string, string>>;
    if (event === 'memory.written') return [item_id];
    if (event === 'group.member_joined') return [`${entity_id} joins ${group_id}`];
    return event === 'group.member_left' ? [`${entity_id} leaves ${group_id}`] : [];
  });
}

/** An entity reads a group: the items that it may read, or a denial; a search finds no others. */
export async function readsStore(life: Life): Promise<void> {
  const { d, expected } = life;
  const member = d.of(life.acting);
  const own = Object.keys(member.node.members);
  const group = own.length > 0 && d.once(2) ? d.of(own) : d.of([...GROUPS, ...expected.groups.keys()]);
  await listed(life, member, group, `group:${group}`);
  await searched(life, member, d.once(2) ? undefined : d.some([...expected.groups.keys()]));
}

/** Compares the words of a store that an entity lists with those that it may read. */
export async function listed(life: Life, { node, entity }: Member, group: string, store: string): Promise<void> {
  const wanted = life.expected.inStore(node, store, life.now);
  const read = await entity.memory.list(group, { limit: 500 }).then(
    ({ items }) => new Set(items.flatMap(({ content }) => content ?? [])),
    () => undefined,
  );
  life.did('list', wanted === undefined);
  life.same(`${short(node)} reads ${store}`, read, wanted);
}

const FOUND_MAX = 50;

async function searched(life: Life, { node, entity }: Member, groups: readonly string[] | undefined): Promise<void> {
  if (groups?.length === 0) return;
  const stores = groups?.map((group) => `group:${group}`) ?? storesOf(node);
  const wanted = life.expected.found(node, stores, life.now);
  if (wanted.size > FOUND_MAX) return;
  const args = { query: 'canary end', ...(groups === undefined ? {} : { groups }), k: FOUND_MAX };
  const { text, refused } = await worded(entity, 'memory_search', args);
  life.is(`a search by ${short(node)} is refused`, refused, undefined);
  if (life.isOver) return;
  const { items, texts } = JSON.parse(text) as {
    readonly items: readonly { readonly item_id: string }[];
    readonly texts: readonly unknown[];
  };
  const isWithheld = stores.some((store) => !life.expected.reads(node, store, life.now));
  life.did('search', isWithheld);
  life.same(`a search of ${stores.join()} by ${short(node)}`, new Set(items.map(({ item_id }) => item_id)), wanted);
  const words = new Set([...wanted].map((id) => life.expected.items.get(id)?.canary));
  const strange = [...JSON.stringify(texts).matchAll(/canary-\d+-end/g)].filter(([canary]) => !words.has(canary));
  life.is(`other words in a search by ${short(node)}`, strange.join(), '');
}

/** The stores that an entity searches where it names none. */
export function storesOf({ id, members }: Node): readonly string[] {
  return [`private:${id}`, ...Object.keys(members).map((group) => `group:${group}`)];
}

/** An entity asks what an agent may do: the agent itself and those above it are told, no other learns that it exists. */
export async function asksOfAgent(life: Life): Promise<void> {
  const { d, expected } = life;
  const ones = life.agents.filter(({ node }) => !node.failed);
  if (ones.length === 0) return;
  const [{ node, entity }, { node: agent }] = [d.of(life.acting), d.of(ones)];
  const isAbove = expected.isAtOrAbove(agent, node) ? agent === node : expected.isAtOrAbove(node, agent);
  const { text, refused } = await worded(entity, 'agent_capabilities', { agent_id: agent.id });
  life.did('ask of an agent', !isAbove);
  life.is(`${short(node)} asks what ${short(agent)} may`, refused, isAbove ? undefined : 'agent_unknown');
  if (!isAbove) life.is(`what ${short(node)} is told of ${short(agent)}`, text.includes('declared'), false);
}

/** An agent that is suspended, or whose parent is, asks for something: it is refused. */
export async function asksInVain(life: Life): Promise<void> {
  const { d, expected } = life;
  const still = life.agents.filter(({ node }) => !node.failed && !expected.operates(node) && !life.isRunning(node));
  if (still.length === 0) return;
  const { node, entity } = d.of(still);
  const group = d.of([...expected.groups.keys()]);
  const tool = d.of(['memory_read_warm', 'memory_search', 'events_poll'] as const);
  const args = { memory_read_warm: { group }, memory_search: { query: 'canary end' }, events_poll: {} }[tool];
  const { refused } = await worded(entity, tool, args);
  life.did('ask in vain', true);
  life.is(`${short(node)} calls ${tool} and stands still`, refused, 'agent_not_active');
}

/** An entity reads one item by its id: its words, or a denial, which names neither its author nor its subject. */
export async function readsItem(life: Life): Promise<void> {
  const { d, expected } = life;
  if (expected.items.size === 0) return;
  const { node, entity } = d.of(life.acting);
  const [id, { store, canary, author }] = d.of([...expected.items]);
  const mayRead = expected.reads(node, store, life.now);
  const read = await worded(entity, 'memory_read_warm', { item_id: id });
  const isThere = mayRead && !expected.erased.has(canary);
  life.did('read an item', !mayRead);
  life.is(`${short(node)} reads ${id}`, read.refused === undefined, mayRead);
  life.is(`the words of ${id} for ${short(node)}`, read.text.includes(canary), isThere);
  if (mayRead || author === node.id) return;
  const verdict = { item_id: id, verdict: 'right', basis: 'user' } as const;
  const refused = await entity.answerTo('memory_assess', verdict);
  life.is(`${short(node)} judges ${id}`, refused.is_error, true);
  const isNamed = (read.text + JSON.stringify(refused.value)).replaceAll(id, '').includes(author);
  life.is(`the author of ${id} is named to ${short(node)}`, isNamed && author.length > 8, false);
}
