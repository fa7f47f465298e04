/**
 * What an entity of a tree may do, told from the rules of the specification alone. It shares no code with the compiler or
 * the kernel: questions are answered one by one, without patterns of stores and without a table.
 */
export interface Scope {
  readonly layers: readonly string[];
  readonly groups: readonly string[];
  readonly visibility: readonly string[];
}

export interface Caps {
  readonly memory_read?: Scope;
  readonly memory_write?: Scope;
  readonly tools?: readonly string[];
  readonly max_parallel_ops?: number;
  readonly autonomous?: boolean;
}

export interface Node {
  readonly id: string;
  /** The index of its parent; -1 for the person. */
  readonly parent: number;
  readonly kind: string;
  declared: Caps;
  granted?: Caps;
  tier: number;
  readonly floor: number;
  readonly bonus: readonly string[];
  members: Readonly<Record<string, string>>;
  /** The tier that the owner of a group gives, by group; absent where it has judged nothing. */
  owners: Readonly<Record<string, number>>;
  status: string;
  end: number;
  readonly swarm: string;
  readonly reviews: readonly string[];
}

export interface Question {
  /** `tool`, `group`, `unwatched`, `read` or `write`; for the last two `name` is the key of a store. */
  readonly ask: string;
  readonly name: string;
  readonly now: number;
}

const fits = (patterns: readonly string[] | undefined, name: string) =>
  patterns === undefined ||
  patterns.some((p) => (p[p.length - 1] === '*' ? name.slice(0, p.length - 1) === p.slice(0, -1) : p === name));
const lists = (list: readonly string[] | undefined, name: string) => list === undefined || list.indexOf(name) >= 0;
const acts = (n: Node, now: number) => n.status !== 'deactivated' && n.status !== 'removed' && now < n.end;
const level = (n: Node) => (n.kind === 'person' ? 2 : Math.max(n.floor, n.tier));

/** Whether the node's own side allows it. */
function uses(tree: readonly Node[], n: Node, { ask, name, now }: Question): boolean {
  if (!acts(n, now)) return false;
  const caps = n.declared;
  const extra = level(n) === 3 && n.bonus.indexOf(name) >= 0;
  if (ask === 'tool') return fits(caps.tools, name);
  if (ask === 'unwatched') return caps.autonomous !== false;
  if (ask === 'group') return extra || fits(caps.memory_read?.groups, name) || fits(caps.memory_write?.groups, name);
  const scope = ask === 'read' ? caps.memory_read : caps.memory_write;
  const [kind = '', rest = ''] =
    name === 'public' ? ['public'] : [name.slice(0, name.indexOf(':')), name.slice(name.indexOf(':') + 1)];
  if (kind === 'l1-notes') return rest === n.id && lists(scope?.layers, 'l1');
  if (kind === 'staging')
    return ask === 'read' && [n.id, ...n.reviews].some((id) => rest.slice(0, id.length + 1) === `${id}.`);
  if (!lists(scope?.layers, 'l2') || !lists(scope?.visibility, kind)) return false;
  if (kind === 'public') return ask === 'read';
  if (kind === 'private') {
    if (level(n) < 2 || n.kind === 'swarm-worker') return false;
    return rest === n.id || (n.kind === 'claude-code' && n.parent >= 0 && tree[n.parent]?.id === rest);
  }
  const role = n.members[rest];
  const there = n.kind === 'person' ? 2 : Math.max(n.floor, Math.min(n.tier, n.owners[rest] ?? 3));
  if (role === undefined || (ask === 'write' && role === 'viewer') || there === 0) return false;
  if (there === 3 && n.bonus.indexOf(rest) >= 0) return true;
  if (n.kind === 'swarm-worker' && rest !== n.swarm) return false;
  if (there === 1) return ask === 'read' && scope !== undefined && scope.groups.indexOf(rest) >= 0;
  return fits(scope?.groups, rest);
}

/** Whether the node hands it on. */
function handsOn(n: Node, { ask, name, now }: Question): boolean {
  if (!acts(n, now)) return false;
  const caps = n.granted ?? n.declared;
  if (ask === 'tool') return fits(caps.tools, name);
  if (ask === 'unwatched') return caps.autonomous !== false;
  if (ask === 'group') return fits(caps.memory_read?.groups, name) || fits(caps.memory_write?.groups, name);
  const scope = ask === 'read' ? caps.memory_read : caps.memory_write;
  if (name.slice(0, 9) === 'l1-notes:') return lists(scope?.layers, 'l1');
  if (name.slice(0, 8) === 'staging:') return true;
  const kind = name === 'public' ? name : name.slice(0, name.indexOf(':'));
  if (!lists(scope?.layers, 'l2') || !lists(scope?.visibility, kind)) return false;
  return kind === 'group' ? fits(scope?.groups, name.slice(6)) : kind === 'private' || ask === 'read';
}

/** Whether a node may, by its own side and by all above it. */
export function may(tree: readonly Node[], index: number, question: Question): boolean {
  const node = tree[index] as Node;
  if (!uses(tree, node, question)) return false;
  for (let above = node.parent; above >= 0; above = (tree[above] as Node).parent)
    if (!handsOn(tree[above] as Node, question)) return false;
  return true;
}

/** The operations that a node may have at once; Infinity for any number. */
export function parallel(tree: readonly Node[], index: number): number {
  const own = (tree[index] as Node).declared.max_parallel_ops ?? Number.POSITIVE_INFINITY;
  let least = own;
  for (let at = (tree[index] as Node).parent; at >= 0; at = (tree[at] as Node).parent) {
    const { granted, declared } = tree[at] as Node;
    least = Math.min(least, (granted ?? declared).max_parallel_ops ?? Number.POSITIVE_INFINITY);
  }
  return least;
}
