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
  /** Its memberships while its maker's cell has failed, from the failure on: what it has gained since waits for the maker. */
  meanwhile: readonly Readonly<Record<string, string>>[];
  /** The tier that the owner of a group gives, by group; absent where it has judged nothing. */
  owners: Readonly<Record<string, number>>;
  status: string;
  end: number;
  readonly swarm: string;
  /** The agents whose items wait in a staging store for its decision. */
  reviews: readonly string[];
  /** Its own cell has failed: what is taken from it is cut by those above, and nothing else changes it. */
  failed: boolean;
  /** What was cut so, in the order of time. */
  cuts: readonly Cut[];
  /** All above it, as they were when its cell failed: what they hand on more since, it has not heard of. */
  knew: readonly Node[];
}

/** What an entity above takes from a failed agent: everything, or what one change of capabilities does not leave. */
export interface Cut {
  readonly ended?: true;
  readonly capabilities?: Caps;
  readonly grant?: Caps;
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
    return rest === n.id || (n.kind === 'claude-code' && scope !== undefined && tree[n.parent]?.id === rest);
  }
  const role = n.members[rest];
  const there = n.kind === 'person' ? 2 : Math.min(level(n), n.owners[rest] ?? 3);
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

/** Whether one change leaves a failed agent something. What it does not name it leaves; groups need both of its scopes. */
function leaves(caps: Caps, { ask, name }: Question): boolean {
  if (ask === 'tool') return fits(caps.tools, name);
  if (ask === 'unwatched') return caps.autonomous !== false;
  const { memory_read: read, memory_write: write } = caps;
  if (ask === 'group')
    return read === undefined || write === undefined || fits(read.groups, name) || fits(write.groups, name);
  const scope = ask === 'read' ? read : write;
  if (scope === undefined || name.slice(0, 8) === 'staging:') return true;
  if (name.slice(0, 9) === 'l1-notes:') return lists(scope.layers, 'l1');
  const kind = name === 'public' ? name : name.slice(0, name.indexOf(':'));
  if (!lists(scope.layers, 'l2') || !lists(scope.visibility, kind)) return false;
  return kind === 'group' ? fits(scope.groups, name.slice(6)) : kind === 'private' || ask === 'read';
}

/** Whether a change narrows what a question asks about. */
function names(caps: Caps | undefined, { ask }: Question): boolean {
  if (caps === undefined) return false;
  if (ask === 'tool') return caps.tools !== undefined;
  if (ask === 'unwatched') return caps.autonomous === false;
  if (ask === 'group') return caps.memory_read !== undefined && caps.memory_write !== undefined;
  return (ask === 'read' ? caps.memory_read : caps.memory_write) !== undefined;
}

/** Whether all that was cut from a node leaves it something, for itself and for those below. */
function isLeft({ cuts }: Node, question: Question): boolean {
  return cuts.every(({ ended, capabilities, grant }) => {
    if (ended === true) return false;
    const named = [capabilities, grant].filter((caps) => names(caps, question));
    return named.length === 0 || named.some((caps) => leaves(caps as Caps, question));
  });
}

/** Whether a node may, by its own side, by all above it, and by what was cut from any of them. */
export function may(tree: readonly Node[], index: number, question: Question): boolean {
  const node = tree[index] as Node;
  const sides = [node, ...node.meanwhile.map((members) => ({ ...node, members }))];
  if (!sides.every((side) => uses(tree, side, question)) || !isLeft(node, question)) return false;
  if (!node.knew.every((one) => handsOn(one, question))) return false;
  for (let above = node.parent; above >= 0; above = (tree[above] as Node).parent) {
    const one = tree[above] as Node;
    if (![one, ...one.knew].every((each) => handsOn(each, question)) || !isLeft(one, question)) return false;
  }
  return true;
}

/** The operations that a node may have at once; Infinity for any number. */
export function parallel(tree: readonly Node[], index: number): number {
  const node = tree[index] as Node;
  let least = Math.min(node.declared.max_parallel_ops ?? Number.POSITIVE_INFINITY, ...node.knew.map(handedOnAtOnce));
  for (let at = node.parent; at >= 0; at = (tree[at] as Node).parent) {
    const one = tree[at] as Node;
    least = Math.min(least, ...[one, ...one.knew].map(handedOnAtOnce));
  }
  for (let at = index; at >= 0; at = (tree[at] as Node).parent)
    for (const cut of (tree[at] as Node).cuts) least = Math.min(least, leftAtOnce(cut));
  return least;
}

function handedOnAtOnce({ granted, declared }: Node): number {
  return (granted ?? declared).max_parallel_ops ?? Number.POSITIVE_INFINITY;
}

/** The larger of the numbers that a cut names. */
function leftAtOnce({ capabilities, grant }: Cut): number {
  const named = [capabilities, grant].flatMap((caps) => caps?.max_parallel_ops ?? []);
  return named.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...named);
}
