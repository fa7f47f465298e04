/** Walks over graphs: what waits for what. */

/**
 * Finds a cycle among new nodes: the names of its nodes in order; undefined without a cycle. Only new nodes can be on a
 * cycle, because existing nodes never get new dependencies.
 */
export function circleIn(needsOf: ReadonlyMap<string, readonly string[]>): string[] | undefined {
  const cleared = new Set<string>();
  const way: string[] = [];
  const visit = (node: string): string[] | undefined => {
    const met = way.indexOf(node);
    if (met >= 0) return [...way.slice(met), node];
    if (cleared.has(node)) return undefined;
    way.push(node);
    for (const need of needsOf.get(node) ?? []) {
      const found = visit(need);
      if (found !== undefined) return found;
    }
    way.pop();
    cleared.add(node);
    return undefined;
  };
  for (const node of needsOf.keys()) {
    const found = visit(node);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A way from one place to another, both included; undefined when none leads there. */
export function wayTo<P>(from: P, to: P, next: (place: P) => readonly P[]): P[] | undefined {
  const cameFrom = new Map<P, P | null>([[from, null]]);
  const open: P[] = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return backFrom(at, cameFrom);
    for (const place of next(at)) {
      if (cameFrom.has(place)) continue;
      cameFrom.set(place, at);
      open.push(place);
    }
  }
  return undefined;
}

function backFrom<P>(last: P, cameFrom: ReadonlyMap<P, P | null>): P[] {
  const way: P[] = [];
  for (let at: P | null | undefined = last; at !== null && at !== undefined; at = cameFrom.get(at)) way.unshift(at);
  return way;
}
