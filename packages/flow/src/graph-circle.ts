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
