/**
 * Rights of nodes: a node may do what was said about it and about every node above it permits.
 *
 * All sessions are made by the tree, so the kernel sees no line from node to node. The tree computes what a node may do
 * from the line of its nodes, and the kernel keeps it: as the rights of the node's session, which stand before its input
 * is sent. Only nodes that were given rights, or are below such a node, cost anything.
 */
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { formatAddress } from '@reprise/contracts';
import { canonical, capabilityFits, leq, meet, permits } from '@reprise/kernel/authority';
import { key, revokeMemoryCalls } from '@reprise/org/contracts';
import type { NodeRow, RecordedRights } from '../../contracts/index.js';
import type { Delivery } from '../delivery/delivery.js';
import { isEnded, type ReadNode } from '../delivery/nodes.js';
import { Refused } from '../delivery/refused.js';
import { endNode } from './end-node.js';

/** Begins the tag of a command that narrows rights, whose refusal comes back with it. */
const RESTRICT_TAG = 'restrict.';

/** Refuses rights that, together with those of the nodes above, name more dimensions than one holder may have. */
export function refuseUnfitting(
  delivery: Delivery,
  above: ReadNode | undefined,
  rights: RecordedRights | undefined,
): void {
  if (rights === undefined) return;
  const all = above === undefined ? undefined : rightsOfNode(delivery, above);
  if (!capabilityFits(all === undefined ? rights : meet(rights, all))) throw new Refused('too_many_rights');
}

/** Notes what is said about the rights of a node: it only narrows what was said before. */
export function narrowRights(delivery: Delivery, { n }: ReadNode, rights: RecordedRights | undefined): void {
  if (rights === undefined) return;
  const known = delivery.ctx.table('rights').get(key(n));
  const narrowed = (known === undefined ? canonical(rights) : meet(known, rights)) as RecordedRights;
  delivery.ctx.table('rights').set(key(n), narrowed);
  delivery.ctx.record('tree/Rights@1', { n, rights: narrowed });
}

/** What a node may do; undefined when neither it nor a node above it was given rights. */
function rightsOfNode(delivery: Delivery, row: ReadNode): RecordedRights | undefined {
  const said = delivery.ctx.table('rights');
  if (said.size === 0) return undefined;
  let all: RecordedRights | undefined;
  for (const { n } of delivery.nodes.upFrom(row.n)) {
    const own = said.get(key(n));
    if (own !== undefined) all = all === undefined ? own : (meet(all, own) as RecordedRights);
  }
  return all;
}

/** The rights that a session must have before it begins; undefined when they stand, or it needs no rights of its own. */
export function rightsToSet(delivery: Delivery, row: ReadNode, session: string): RecordedRights | undefined {
  const rights = rightsOfNode(delivery, row);
  if (rights === undefined) return undefined;
  const stand = delivery.ctx.table('granted').get(session);
  return stand !== undefined && leq(stand, rights) ? undefined : rights;
}

/** Refuses what the rights of a node do not permit: a tool of the app, or a store. */
export function refuseWithoutRight(
  delivery: Delivery,
  row: ReadNode,
  dimension: 'tool' | 'mem_read' | 'mem_write',
  object: string,
): void {
  const rights = rightsOfNode(delivery, row);
  if (rights !== undefined && !permits(rights, dimension, object)) throw new Refused('not_permitted');
}

/**
 * Narrows the rights of a session under way. In this frame the kernel ends its effects that they no longer permit, and the
 * tree what it does for the session in its store.
 */
export function restrictRun(delivery: Delivery, row: NodeRow): void {
  const rights = rightsOfNode(delivery, row);
  if (rights === undefined || row.session === null || row.run === 'composing' || row.run === 'checking') return;
  const holder = `cell:${formatAddress([SESSION_REDUCER, row.session])}` as const;
  delivery.ctx.command('sys/SetRights@1', { holder, exercise: rights }, { tag: `${RESTRICT_TAG}${row.n}` });
  delivery.ctx.table('granted').set(row.session, rights);
  const { memory } = delivery.state;
  if (memory === undefined) return;
  const may = (writes: boolean) => permits(rights, writes ? 'mem_write' : 'mem_read', memory.scope);
  const still = { writes: may(true), reads: may(false) };
  if (still.writes && still.reads) return;
  revokeMemoryCalls(delivery.ctx, row.session, ({ writes }) => (writes ? still.writes : still.reads));
}

/** The kernel refused to narrow the rights of a run: it may do too much, so its node ends. */
export function restrictRefused(delivery: Delivery, tag: string, code: string): void {
  if (!tag.startsWith(RESTRICT_TAG)) return;
  const row = delivery.nodes.change(Number(tag.slice(RESTRICT_TAG.length)));
  if (row.session !== null) delivery.ctx.table('granted').delete(row.session);
  if (!isEnded(row)) endNode(delivery, row.n, { status: 'failed', code: `rights/${code}`.slice(0, 96) });
}
