/**
 * Who waits for whom: the graph of needs, open children and open questions, in which no circle may close.
 *
 * A node takes part twice: with its end, for which parents and dependents wait, and with its acting, without which it
 * neither ends nor answers. A node that only waits for its children acts: it is run to answer.
 */

import { wayTo } from '@reprise/org/contracts';
import { childrenOf, numbers, openAsks } from './around.js';
import type { Delivery } from './delivery.js';
import { isEnded, type ReadNode } from './nodes.js';

/** A place in the graph: the end of a node, or its acting. */
type Place = `end:${number}` | `act:${number}`;

/** The path by which the end of a node waits for the end of another; undefined when it does not. */
export function pathToEnd(delivery: Delivery, from: number, to: number): readonly number[] | undefined {
  return search(delivery, `end:${from}`, `end:${to}`);
}

/** The path by which the acting of a node waits for that of another. */
export function pathToAct(delivery: Delivery, from: number, to: number): readonly number[] | undefined {
  return search(delivery, `act:${from}`, `act:${to}`);
}

/** Whether the acting of a node waits for the end of another. */
export function actsAfterEnd(delivery: Delivery, from: number, to: number): boolean {
  return search(delivery, `act:${from}`, `end:${to}`) !== undefined;
}

/** The path by which the end of a node would wait for itself if some nodes that have ended were tried again. */
export function circleThrough(
  delivery: Delivery,
  n: number,
  again: ReadonlySet<number>,
): readonly number[] | undefined {
  for (const next of awaited(delivery, `end:${n}`, again)) {
    const path = search(delivery, next, `end:${n}`, again);
    if (path !== undefined) return [n, ...path];
  }
  return undefined;
}

/** The nodes on the way from one place to another, each once where it stands in a row. */
function search(
  delivery: Delivery,
  from: Place,
  to: Place,
  again: ReadonlySet<number> = NONE,
): readonly number[] | undefined {
  const way = wayTo(from, to, (place) => awaited(delivery, place, again));
  return way?.map(numberOf).filter((n, i, all) => n !== all[i - 1]);
}

function numberOf(place: Place): number {
  return Number(place.slice(4));
}

const NONE: ReadonlySet<number> = new Set();

function awaited(delivery: Delivery, place: Place, again: ReadonlySet<number>): readonly Place[] {
  const n = numberOf(place);
  const row = delivery.nodes.get(n);
  if (row === undefined || (isEnded(row) && !again.has(n))) return [];
  if (place.startsWith('end:')) {
    // A node without a run that waits for answers ends after them; its acting does not: it is run to answer.
    const answers = row.status === 'waiting_input' ? askedBy(delivery, n, 'any').map((to): Place => `act:${to}`) : [];
    const children = childrenOf(delivery, n).filter((child) => !isEnded(child) || again.has(child.n));
    return [`act:${n}`, ...children.map((child): Place => `end:${child.n}`), ...answers];
  }
  const needs =
    again.has(n) || waitsForNeeds(row) ? numbers(delivery, 'needs', n).map((need): Place => `end:${need}`) : [];
  return [...needs, ...askedBy(delivery, n, 'calls').map((asked): Place => `act:${asked}`)];
}

/** Whether the needs of a node count: it has not begun, or is tried again and they have not ended since. */
export function waitsForNeeds({ status, launch, unmet }: Pick<ReadNode, 'status' | 'launch' | 'unmet'>): boolean {
  return status === 'pending' && (launch === 0 || unmet > 0);
}

/** The nodes whose answers a node awaits without a deadline: all of them, or those for which a call of its run waits. */
function askedBy(delivery: Delivery, n: number, which: 'calls' | 'any'): readonly number[] {
  return openAsks(delivery, n).flatMap(([, { call, deadline, route }]) =>
    deadline !== null || (call === null && which === 'calls') ? [] : route,
  );
}
