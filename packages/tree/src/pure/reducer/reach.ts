/**
 * Who waits for whom: the graph of needs, open children and open questions, in which no circle may close.
 *
 * A node takes part twice: with its end, for which parents and dependents wait, and with its acting, without which it
 * neither ends nor answers. A node that only waits for its children acts: it is run to answer.
 */
import type { Delivery } from './delivery.js';
import { tableOf } from './delivery.js';
import { key, pairsOf, secondOf } from './keys.js';
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

function search(
  delivery: Delivery,
  from: Place,
  to: Place,
  again: ReadonlySet<number> = NONE,
): readonly number[] | undefined {
  const cameFrom = new Map<Place, Place | null>([[from, null]]);
  const open: Place[] = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return pathOf(cameFrom, at);
    for (const next of awaited(delivery, at, again)) {
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, at);
      open.push(next);
    }
  }
  return undefined;
}

function pathOf(cameFrom: ReadonlyMap<Place, Place | null>, last: Place): readonly number[] {
  const path: number[] = [];
  for (let at: Place | null = last; at !== null; at = cameFrom.get(at) ?? null) {
    const n = numberOf(at);
    if (path[0] !== n) path.unshift(n);
  }
  return path;
}

function numberOf(place: Place): number {
  return Number(place.slice(4));
}

const NONE: ReadonlySet<number> = new Set();

/** What a place waits for. */
function awaited(delivery: Delivery, place: Place, again: ReadonlySet<number>): readonly Place[] {
  const n = numberOf(place);
  const row = delivery.nodes.get(n);
  if (row === undefined || (isEnded(row) && !again.has(n))) return [];
  if (place.startsWith('end:')) {
    // A node without a run that waits for answers ends after them; its acting does not: it is run to answer.
    const answers = row.status === 'waiting_input' ? askedBy(delivery, n, 'any').map((to): Place => `act:${to}`) : [];
    return [`act:${n}`, ...childrenOf(delivery, n, again).map((child): Place => `end:${child}`), ...answers];
  }
  const needs = again.has(n) || waitsForNeeds(row) ? needsOf(delivery, n).map((need): Place => `end:${need}`) : [];
  return [...needs, ...askedBy(delivery, n, 'calls').map((asked): Place => `act:${asked}`)];
}

/** The children of a node that have not ended, questions not among them. */
function childrenOf(delivery: Delivery, n: number, again: ReadonlySet<number>): readonly number[] {
  return numbers(delivery, 'children', n).filter((child) => {
    const row = delivery.nodes.get(child);
    return row !== undefined && row.type !== 'ask' && (!isEnded(row) || again.has(child));
  });
}

/** Whether the needs of a node count: it has not begun, or is tried again and they have not ended since. */
export function waitsForNeeds({ status, launch, unmet }: Pick<ReadNode, 'status' | 'launch' | 'unmet'>): boolean {
  return status === 'pending' && (launch === 0 || unmet > 0);
}

/** The nodes that a node needs. */
function needsOf(delivery: Delivery, n: number): readonly number[] {
  return numbers(delivery, 'needs', n);
}

/** The nodes whose answers a node awaits without a deadline: all of them, or those for which a call of its run waits. */
function askedBy(delivery: Delivery, n: number, which: 'calls' | 'any'): readonly number[] {
  return numbers(delivery, 'children', n).flatMap((child) => {
    if (delivery.nodes.get(child)?.type !== 'ask') return [];
    const ask = tableOf(delivery, 'asks').get(key(child));
    if (ask === undefined || ask.outcome !== null || ask.deadline !== null) return [];
    return ask.call === null && which === 'calls' ? [] : ask.route;
  });
}

/** The second numbers of all pairs of a node. */
export function numbers(
  delivery: Delivery,
  table: 'children' | 'needs' | 'dependents' | 'routes',
  n: number,
): readonly number[] {
  const range = pairsOf(n);
  const found: number[] = [];
  for (let from = range.from; ; ) {
    const page = tableOf(delivery, table).range({ after: from, before: range.before });
    found.push(...page.map(([text]) => secondOf(text)));
    const last = page.at(-1);
    if (last === undefined || page.length < 256) return found;
    [from] = last;
  }
}
