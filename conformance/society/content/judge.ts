/** Judges random worlds: what the model and each tool shows is compared with what the oracle expects, word by word. */
import type { Principal, Ref } from 'reprise/kernel';
import type { Capabilities, Entity } from 'reprise/society';
import { type Draws, draws } from '../draws.js';
import { failEntity } from '../failing.js';
import type { Caps, Node } from '../oracle.js';
import { PERSON } from '../worlds/grown.js';
import { Expected } from './expected.js';
import { canariesIn, openScene, type Scene } from './scene.js';

/** What was found in a run. */
export interface FoundContent {
  worlds: number;
  requests: number;
  answers: number;
  /** The words that were shown, and those that a member was not shown because it might not read them. */
  shown: number;
  withheld: number;
  disagreements: number;
  first?: string;
}

const GROUPS = ['a', 'a1', 'b'] as const;
const JUDGED = 'judged';
const INBOX = 'society://inbox/';
const EAGERNESS = ['chatty', 'chatty', 'moderate', 'moderate', 'taciturn'] as const;
const AGENTS = 3;
const STEPS = 24;
/** Refused calls suspend an agent when five come within ten minutes. */
const BETWEEN_STEPS_MS = 200_000;

/** Judges worlds from a seed on. It stops at the first disagreement. */
export async function judgeContent(worlds: number, seed: number): Promise<FoundContent> {
  const found: FoundContent = { worlds: 0, requests: 0, answers: 0, shown: 0, withheld: 0, disagreements: 0 };
  for (; found.worlds < worlds && found.disagreements === 0; found.worlds++) {
    const world = await WorldOfContent.open(seed + found.worlds, found);
    try {
      await within(world.live());
    } catch (error) {
      world.disagree(`an error: ${(error as Error).stack ?? error}`);
    }
    await world.close();
  }
  return found;
}

/** The time that one world may take: one that stands still is a disagreement. */
const PATIENCE_MS = 60_000;

async function within(life: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the world stands still, expected an end')), PATIENCE_MS);
  });
  await Promise.race([life, late]).finally(() => clearTimeout(timer));
}

/** An entity, and what the oracle knows of it. */
interface Member {
  readonly node: Node;
  readonly entity: Entity;
}

/** A world, its entities, and what is expected of them. */
interface Opened {
  readonly seed: number;
  readonly d: Draws;
  readonly scene: Scene;
  readonly members: readonly Member[];
  readonly expected: Expected;
  readonly found: FoundContent;
}

class WorldOfContent {
  readonly #history: string[] = [];
  #canaries = 0;

  private constructor(private readonly at: Opened) {}

  get d(): Draws {
    return this.at.d;
  }

  get scene(): Scene {
    return this.at.scene;
  }

  get members(): readonly Member[] {
    return this.at.members;
  }

  get expected(): Expected {
    return this.at.expected;
  }

  get found(): FoundContent {
    return this.at.found;
  }

  static async open(seed: number, found: FoundContent): Promise<WorldOfContent> {
    const d = draws(seed);
    const cultures = {
      ...Object.fromEntries(GROUPS.map((group) => [group, d.of(EAGERNESS)])),
      [JUDGED]: 'taciturn' as const,
    };
    const scene = await openScene(cultures);
    const tree: Node[] = [];
    const members: Member[] = [];
    for (const id of ['ann', 'ben']) {
      members.push({ node: personOf(id), entity: await scene.office.human(id) });
      tree.push(members.at(-1)?.node as Node);
    }
    for (let n = 1 + d.below(AGENTS); n > 0; n--) {
      const parent = d.once(3) && tree.length > 2 ? 2 + d.below(tree.length - 2) : 0;
      const isWide = parent !== 0 || !d.once(3);
      const caps = isWide ? {} : readingOf(d);
      const { agent_id } = await (members[parent] as Member).entity.register({
        agent_type: 'custom',
        display_name: `Agent ${n}`,
        capabilities: caps as unknown as Capabilities,
      });
      const node: Node = { ...personOf(agent_id), parent, kind: 'custom', declared: caps };
      members.push({ node, entity: scene.office.entity(agent_id) });
      tree.push(node);
    }
    const expected = new Expected(tree);
    for (const [name, eagerness] of Object.entries(cultures)) expected.groups.set(name, { eagerness, posts: [] });
    const world = new WorldOfContent({ seed, d, scene, members, expected, found });
    for (const group of [...GROUPS, JUDGED])
      for (const id of ['ann', 'ben']) await world.#join(world.#member(id), group);
    for (const member of members.slice(2))
      for (const group of [...GROUPS, JUDGED]) if (group === JUDGED || !d.once(4)) await world.#join(member, group);
    for (const member of members.slice(2)) await world.#run(member); // registered agents become active
    return world;
  }

  async live(): Promise<void> {
    for (let step = 0; step < STEPS && this.found.disagreements === 0; step++) {
      await this.#step(this.d.below(18));
      await this.scene.clock.advance(BETWEEN_STEPS_MS);
    }
    for (const member of this.members) {
      if (this.found.disagreements > 0) return;
      if (!member.node.failed) await this.#poll(member);
    }
    const { unverified } = await this.scene.world.verify();
    if (unverified > 0) this.disagree(`${unverified} frames were not verified`);
  }

  close(): Promise<void> {
    this.scene.provider.release();
    return this.scene.world.close();
  }

  disagree(what: string): void {
    this.found.disagreements++;
    this.found.first ??= `seed ${this.at.seed}: ${what}\n${this.#history.join('\n')}\n${JSON.stringify(this.expected.tree)}`;
  }

  async #step(what: number): Promise<void> {
    const { d } = this;
    const agent = d.of(this.members.slice(2));
    switch (what) {
      case 0:
      case 1:
      case 2:
        return this.#write(d.of(this.members.slice(0, 2)), d.of(GROUPS));
      case 3:
        return this.#share(d.of(this.members.slice(0, 2)));
      case 4:
        return this.#narrow(agent);
      case 5:
        return this.#moves(d.once(4) ? this.#member('ben') : agent, d.of(GROUPS));
      case 6:
        return this.#judge(agent);
      case 7:
        return this.#suspends(agent);
      case 8:
        return this.#fails(agent);
      case 9:
        return this.d.once(2) ? this.#archive() : this.#erase();
      case 14:
        return this.#write(d.of(this.members.slice(0, 2)), d.of(GROUPS));
      case 10:
        return this.#poll(d.of(this.members));
      case 11:
        return this.#reads(d.of(this.members), d.of(GROUPS));
      case 12:
      case 13:
        return this.#duringRun(d.of([agent, this.#member('ben')]));
      default:
        return this.#runs(d.of([agent, agent, this.#member('ben')]));
    }
  }

  get #now(): number {
    return this.scene.clock.wall();
  }

  #member(id: string): Member {
    return this.members.find(({ node }) => node.id === id) as Member;
  }

  #say(what: string): void {
    this.#history.push(what);
  }

  /** A new item of a person, sometimes one of low confidence, which is kept and told to nobody. */
  async #write({ node, entity }: Member, group: string): Promise<void> {
    if (node.members[group] === undefined) return;
    const canary = `canary-${++this.#canaries}-end`;
    const isDoubted = this.d.once(6);
    const item = {
      type: 'note',
      content: canary,
      visibility: 'group',
      group,
      ...(isDoubted ? { confidence: 0.1 } : {}),
    } as const;
    const before = this.scene.world.kernel.head.seq;
    const { item_id } = await entity.memory.write(item);
    this.#say(`${node.id} writes ${canary} as ${item_id}${isDoubted ? ', in doubt' : ''}`);
    this.#wrote(node, group, item_id, canary, isDoubted);
    const told = isDoubted ? new Set<string>() : this.expected.told(node.id, group, this.#now);
    this.#same(`clients told of ${item_id}`, await this.#toldSince(before), told);
  }

  /** The entities whose clients are told that their inboxes have changed, in the frames after a number. */
  async #toldSince(before: number): Promise<ReadonlySet<string>> {
    const { kernel, served } = this.scene.world;
    const told = new Set<string>();
    for await (const frame of kernel.frames(before + 1)) {
      for (const uri of (await served[0]?.resources?.[0]?.changed?.(frame)) ?? []) told.add(uri.slice(INBOX.length));
      if (frame.seq >= kernel.head.seq) break;
    }
    return told;
  }

  #wrote(node: Node, group: string, item: string, canary: string, isDoubted: boolean): void {
    this.expected.items.set(item, {
      author: node.id,
      store: `group:${group}`,
      canary,
      state: isDoubted ? 'quarantined' : 'live',
    });
    if (!isDoubted) this.expected.wrote(node.id, group, item, this.#now);
  }

  async #share({ node, entity }: Member): Promise<void> {
    if (this.expected.items.size === 0) return;
    const [item, about] = this.d.of([...this.expected.items]);
    const group = this.d.of(GROUPS);
    if (about.state !== 'live' || about.store === `group:${group}`) return;
    if (node.members[group] === undefined || node.members[about.store.slice(6)] === undefined) return;
    const { item_id } = await entity.memory.share(item, group);
    if (this.expected.items.has(item_id)) return;
    this.#say(`${node.id} shares ${item} as ${item_id}`);
    this.#wrote(node, group, item_id, about.canary, false);
  }

  async #narrow({ node }: Member): Promise<void> {
    if (node.failed) return;
    const caps = this.d.once(4) ? null : (readingOf(this.d).memory_read ?? null);
    const change = { agent_id: node.id, capabilities: { memory_read: caps } } as never;
    if ((await this.#member('ann').entity.answerTo('agent_capabilities', change)).is_error) return; // only a direct parent widens
    const { memory_read: _, ...others } = node.declared;
    node.declared = caps === null ? others : { ...others, memory_read: caps };
    this.#say(`${node.id.slice(0, 6)} may read ${JSON.stringify(caps)}`);
  }

  async #moves(member: Member, group: string): Promise<void> {
    if (member.node.failed) return;
    if (member.node.members[group] === undefined) return this.#join(member, group);
    await this.scene.office.group(group).leave(member.node.id);
    const { [group]: _, ...others } = member.node.members;
    member.node.members = others;
    this.expected.left(member.node, group);
    this.#say(`${member.node.id.slice(0, 6)} leaves ${group}`);
  }

  async #join({ node }: Member, group: string): Promise<void> {
    await this.scene.office.group(group).join(node.id);
    node.members = { ...node.members, [group]: 'member' };
    this.expected.joined(node, group);
    this.#say(`${node.id.slice(0, 6)} joins ${group}`);
  }

  /** Two wrong verdicts of its parent: the agent's tier falls to low. */
  async #judge({ node, entity }: Member): Promise<void> {
    if (node.parent !== 0 || node.tier !== 2 || node.failed || !this.expected.operates(node)) return;
    for (let n = 0; n < 2; n++) {
      const canary = `canary-${++this.#canaries}-end`;
      const { item_id } = await entity.memory.write({
        type: 'note',
        content: canary,
        visibility: 'group',
        group: JUDGED,
      });
      this.#wrote(node, JUDGED, item_id, canary, false);
      await this.#member('ann').entity.assess(item_id, { verdict: 'wrong', basis: 'user' });
    }
    node.tier = 1;
    this.#say(`${node.id.slice(0, 6)} is judged low`);
  }

  async #suspends({ node }: Member): Promise<void> {
    if (node.failed || this.expected.of(node.id).running) return;
    if (node.parent > 0 && !this.expected.operates(this.expected.tree[node.parent] as Node)) return;
    const isActive = node.status === 'active';
    if (isActive && this.#isRunningBelow(node)) return;
    await this.#member('ann').entity.setStatus(node.id, isActive ? 'suspend' : 'resume');
    node.status = isActive ? 'suspended' : 'active';
    this.#say(`${node.id.slice(0, 6)} is ${node.status}`);
  }

  #isRunningBelow(node: Node): boolean {
    const at = this.expected.tree.indexOf(node);
    return this.expected.tree.some((one) => one.parent === at && this.expected.of(one.id).running);
  }

  /** An agent without agents below fails, and lives on when it is revived. */
  async #fails({ node, entity }: Member): Promise<void> {
    const { tree } = this.expected;
    if (tree.some((one) => tree[one.parent] === node) || this.expected.of(node.id).running) return;
    if (!node.failed && !this.d.once(3)) return;
    if (node.failed) await entity.revive();
    else await failEntity(this.scene.world, node.id);
    node.failed = !node.failed;
    this.#say(`${node.id.slice(0, 6)} ${node.failed ? 'fails' : 'lives'}`);
  }

  /** An item leaves the use of its store. */
  async #archive(): Promise<void> {
    const live = [...this.expected.items].filter(([, { state }]) => state === 'live');
    if (live.length === 0) return;
    const [id, item] = this.d.of(live);
    const at = ['memory/Store@1', item.store] as const;
    const operation = { op: 'move', id: Number(id.split('#')[1]), state: 'archived' };
    await this.scene.world.kernel.request([...at], {
      name: 'memory/Say@1',
      value: { operation, tag: `archive ${id}` } as never,
    });
    item.state = 'archived';
    this.#say(`${id} is archived`);
  }

  /** The words of an item are erased: no request has them any more. */
  async #erase(): Promise<void> {
    if (this.expected.items.size === 0) return;
    const [id, { store, canary }] = this.d.of([...this.expected.items]);
    const { kernel } = this.scene.world;
    const [, row] =
      (await kernel.table(['memory/Store@1', store], 'items')).find(([n]) => Number(n) === Number(id.split('#')[1])) ??
      [];
    const { content_ref, summary_ref } = row as unknown as { readonly content_ref: Ref; readonly summary_ref: Ref };
    await kernel.erase({ refs: [content_ref, summary_ref] });
    this.expected.erased.add(canary);
    this.#say(`${canary} is erased`);
  }

  /** The events of an inbox, by the tool or by the resource: exactly those that were to enter it. */
  async #poll({ node, entity }: Member): Promise<void> {
    const byResource = node.failed || this.d.once(2);
    if (!byResource && !this.expected.operates(node)) return;
    const items = byResource ? await this.#resource(node) : await this.#polled(entity);
    if (!node.failed) this.expected.takesBoards(node, this.#now);
    this.found.answers++;
    const wanted = this.expected.of(node.id).inbox;
    if (items.join() !== wanted.join())
      this.disagree(`the inbox of ${node.id.slice(0, 6)} has ${items.join()}, expected ${wanted.join()}`);
  }

  async #polled(entity: Entity): Promise<readonly string[]> {
    const items: string[] = [];
    for (let after = 0; ; ) {
      const { events, next } = await entity.use('events_poll', { after });
      items.push(...itemsOf(events));
      if (events.length === 0) return items;
      after = next;
    }
  }

  async #resource({ id }: Node): Promise<readonly string[]> {
    const { world } = this.scene;
    const inbox = world.served[0]?.resources?.[0];
    const read = (principal: Node) => inbox?.read(world.kernel.as(principalOf(principal)), `${INBOX}${id}`);
    const { node: other } = this.d.of(this.members.filter(({ node }) => node.id !== id));
    if ((await read(other)) !== undefined) this.disagree(`${other.id} reads the inbox of ${id}, expected nothing`);
    const { events } = JSON.parse(new TextDecoder().decode(await read(this.#member(id).node))) as {
      readonly events: never;
    };
    return itemsOf(events);
  }

  /** The items of a group, read by an entity: exactly what it may read, or a denial; a search finds no other words. */
  async #reads({ node, entity }: Member, group: string): Promise<void> {
    if (node.failed || !this.expected.operates(node)) return;
    const wanted = this.expected.inStore(node, group, this.#now);
    const read = await entity.memory.list(group, { limit: 500 }).then(
      ({ items }) => new Set(items.flatMap(({ content }) => content ?? [])),
      () => undefined,
    );
    this.#same(`${node.id.slice(0, 6)} reads ${group}`, read, wanted);
    if (!this.expected.operates(node)) return;
    const found = await entity.answerTo('memory_search', { query: 'canary end', groups: [group], k: 50 } as never);
    const { withheld, items = [] } = found.value as { readonly withheld?: number; readonly items?: readonly unknown[] };
    this.found.answers++;
    if (wanted === undefined && (withheld !== 1 || items.length > 0))
      this.disagree(`a search of ${group} by ${node.id.slice(0, 6)} has answers, expected none`);
  }

  async #runs(member: Member): Promise<void> {
    if (member.node.failed || !this.expected.operates(member.node)) return;
    await this.#run(member);
  }

  async #run({ node, entity }: Member): Promise<void> {
    const { provider, worker } = this.scene;
    const before = provider.bodies.length;
    const run = await entity.send(worker, 'Go on.');
    const wanted = this.expected.runs(node, this.#now);
    this.expected.ended(node);
    await run.text();
    this.#requests(node, before, [wanted]);
  }

  /** Others act while the model of an entity answers: what it is shown at its next step. */
  async #duringRun({ node, entity }: Member): Promise<void> {
    if (node.failed || !this.expected.operates(node)) return;
    const { provider, worker } = this.scene;
    const before = provider.bodies.length;
    provider.hold();
    const run = await entity.send(worker, 'Go on.');
    const wanted = [this.expected.runs(node, this.#now)];
    while (provider.bodies.length === before) await new Promise((resolve) => setImmediate(resolve));
    this.#say(`during a run of ${node.id.slice(0, 6)}:`);
    for (let n = 1 + this.d.below(4); n > 0; n--) await this.#step(this.d.of([0, 1, 2, 3, 4, 5, 9]));
    if (node.parent === 0 && this.d.once(2)) await this.#whileSuspended(node);
    const next = this.expected.goesOn(node);
    if (next !== undefined) wanted.push(next);
    this.expected.ended(node);
    provider.release();
    await run.text();
    this.#requests(node, before, wanted);
  }

  /** Others write while an agent stands still in its run: that is for its next run. */
  async #whileSuspended(node: Node): Promise<void> {
    if (this.#isRunningBelow(node)) return;
    const { entity } = this.#member('ann');
    await entity.setStatus(node.id, 'suspend');
    node.status = 'suspended';
    this.#say(`${node.id.slice(0, 6)} is suspended for a while`);
    await this.#write(this.#member('ann'), this.d.of(GROUPS));
    await entity.setStatus(node.id, 'resume');
    node.status = 'active';
  }

  #requests({ id }: Node, before: number, wanted: readonly ReadonlySet<string>[]): void {
    const bodies = this.scene.provider.bodies.slice(before);
    this.#say(`${id.slice(0, 6)} runs, and is shown ${[...(wanted.at(-1) ?? [])].join()}`);
    if (bodies.length !== wanted.length)
      return this.disagree(`${bodies.length} requests of ${id.slice(0, 6)}, expected ${wanted.length}`);
    for (const [n, body] of bodies.entries()) {
      this.found.requests++;
      const seen = canariesIn(body);
      this.#same(`request ${n + 1} of ${id.slice(0, 6)}`, new Set(seen.keys()), wanted[n]);
    }
    this.found.shown += wanted.at(-1)?.size ?? 0;
    const all = new Set([...this.expected.items.values()].map(({ canary }) => canary));
    this.found.withheld += all.size - (wanted.at(-1)?.size ?? 0);
  }

  #same(what: string, seen: ReadonlySet<string> | undefined, wanted: ReadonlySet<string> | undefined): void {
    this.found.answers++;
    const [a, b] = [seen, wanted].map((one) => (one === undefined ? 'denied' : [...one].sort().join()));
    if (a !== b) this.disagree(`${what}: ${a}, expected ${b}`);
  }
}

function itemsOf(events: readonly { readonly event: string; readonly payload: unknown }[]): readonly string[] {
  return events.flatMap(({ event, payload }) =>
    event === 'memory.written' ? [(payload as { readonly item_id: string }).item_id] : [],
  );
}

function principalOf({ id, kind }: Node): Principal {
  return kind === 'person' ? `human:${id}` : `cell:society/Entity@1/${id}`;
}

function personOf(id: string): Node {
  return { ...PERSON, id };
}

/** What an agent may read: some groups, or none. */
function readingOf(d: Draws): Caps {
  const groups = d.once(4) ? [] : d.some([...GROUPS, 'a*', '*', JUDGED]);
  const visibility = d.once(5) ? d.some(['private', 'group', 'public']) : ['private', 'group', 'public'];
  return { memory_read: { layers: ['l1', 'l2'], groups, visibility } };
}
