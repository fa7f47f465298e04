/** A world is forked: the fork reads what its base read, and what changes in one of both changes nothing in the other. */
import { memory } from 'reprise';
import { VirtualClock } from 'reprise/testing';
import type { Node } from '../../oracle.js';
import type { Item } from '../expected.js';
import { type Life, short } from '../life.js';
import { openScene } from '../scene.js';
import { arrived, type Brought, type Came, canComeBack, conflictsOf } from './returning.js';

/** A fork lives for some steps; then an agent may bring back what it wrote there. */
export async function forks(life: Life, live: (fork: Life) => Promise<void>): Promise<void> {
  const { world, keys, clock } = life.scene;
  const store = memory();
  const accounts = life.expected.tree.map(({ id }) => [`entity:${id}`, {}]);
  const swarms = [...life.expected.swarms].filter(([, { isOver }]) => !isOver).map(([id]) => [`swarm/${id}`, {}]);
  const budgets = Object.fromEntries([...accounts, ...swarms]);
  await world.kernel.fork({ into: store, mode: 'live', grants: { may: {} }, budgets });
  const scene = await openScene({ keys, store, clock: new VirtualClock({ wall: clock.wall() }) });
  const fork = life.fork(scene);
  const before = new Set(fork.expected.items.keys());
  life.say('in a fork:');
  try {
    await live(fork);
  } finally {
    scene.provider.release();
    await scene.world.close();
  }
  life.say('the fork ends');
  life.did('fork');
  if (!life.isOver) await merges(life, fork, { store, before });
}

interface Apart {
  readonly store: ReturnType<typeof memory>;
  readonly before: ReadonlySet<string>;
}

/** An agent that wrote in the fork brings that back, and nothing else; one that did not brings nothing back. */
async function merges(life: Life, fork: Life, { store, before }: Apart): Promise<void> {
  const ones = life.agents.filter(({ node }) => canComeBack(life, node));
  if (ones.length === 0) return;
  const written = ones.filter(({ node }) => broughtBy(fork, node, before).length > 0);
  const { node } = life.d.of(written.length > 0 ? written : ones);
  const brought = broughtBy(fork, node, before);
  const parent = life.expected.parent(node);
  const conflicts = conflictsOf(life, parent, brought);
  const { returns } = await life.member(parent.id).entity.mergeFork(store, { agents: [node.id] });
  const items = returns.map((one) => one.items).join();
  life.is(`items that ${short(node)} brings back from a fork`, items, brought.length === 0 ? '' : `${brought.length}`);
  const [came] = returns as readonly (Came | undefined)[];
  if (came === undefined) return;
  life.did('merge a fork');
  await arrived(life, node, brought, { came, conflicts });
}

function broughtBy(fork: Life, node: Node, before: ReadonlySet<string>): readonly Brought[] {
  const items = [...fork.expected.items].filter(([id, item]) => !before.has(id) && isBrought(fork, node.id, item));
  const groups = Object.keys(fork.expected.node(node.id).members);
  return items.map(([, item]) => broughtAs(item)).sort(byGroup(groups));
}

/** What an agent wrote to a group of its own, and is in use or in doubt. */
function isBrought({ expected }: Life, agent: string, { author, store, state, canary }: Item): boolean {
  const isOwn = author === agent && store.startsWith('group:');
  const isMember = expected.node(agent).members[store.slice('group:'.length)] !== undefined;
  return isOwn && isMember && state !== 'archived' && !expected.erased.has(canary);
}

/** What was validated in the fork was not validated here: it comes with the doubt of its author. */
function broughtAs({ store, canary, subject, isDoubted = false }: Item): Brought {
  return { canary, group: store.slice('group:'.length), isDoubted, subject };
}

/** In the order of the groups, and in each of its items. */
function byGroup(groups: readonly string[]): (a: Brought, b: Brought) => number {
  const order = [...groups].sort();
  return (a, b) => order.indexOf(a.group) - order.indexOf(b.group);
}
