/** Random trees of agents in a real world: registered, judged, given memberships, and changed, through the API alone. */
import type { Capability } from '@reprise/contracts';
import { memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import type { Capabilities, Entity } from 'reprise/society';
import { VirtualClock } from 'reprise/testing';
import type { Draws } from '../draws.js';
import { failEntity, failingSociety } from '../failing.js';
import type { Caps, Node, Scope } from '../oracle.js';

/** The groups of a world. In the last one items are judged, and nothing is asked. */
export const GROUPS = ['a', 'a1', 'b'] as const;
const JUDGED = 'judged';
export const TOOLS = ['agent_list', 'events_poll', 'memory_search', 'memory_read_warm', 'memory_write_warm'] as const;
const TOOL_PATTERNS = [...TOOLS, 'memory_*', 'agent_*', 'events_*', '*'];
const GROUP_PATTERNS = [...GROUPS, 'a*', '*'];
const ROLES = ['owner', 'admin', 'member', 'viewer'] as const;
const KINDS = ['claude-code', 'autonomous', 'custom'] as const;
const AGENTS = 4;
const DEPTH = 4;
const STEPS = 3;
const TTL_SECONDS = 40_000;
/** Wrong verdicts that lead to the tier low. */
const WRONG = 2;

/** Opens a world for trees. */
export async function openTrees(part = failingSociety()) {
  const clock = new VirtualClock();
  const world = await openWorld({
    ...{ store: memory(), clock, models: { main: script() }, parts: [part] },
    onError: () => {}, // cells are made to fail
  });
  const office = world.part(part);
  for (const group of [...GROUPS, JUDGED]) await office.group(group).open();
  return { world, office, clock };
}

/** A world with trees. */
export type Trees = Awaited<ReturnType<typeof openTrees>>;

/** A node of a tree, with what it is in the world. */
export interface Grown {
  readonly node: Node;
  readonly entity: Entity;
  readonly depth: number;
  /** It and all above it were registered with everything. */
  readonly wasWide: boolean;
}

/** Registers a tree of agents below a person. */
export async function growTree(at: Trees, d: Draws, person: string): Promise<readonly Grown[]> {
  const ann = await at.office.human(person);
  const root: Node = { ...PERSON, id: person };
  const tree: Grown[] = [{ node: root, entity: ann, depth: 0, wasWide: true }];
  for (let n = 1 + d.below(AGENTS); n > 0; n--) {
    const parents = tree.filter(({ depth, wasWide }) => depth < DEPTH && wasWide);
    tree.push(await register(at, d, tree, d.of(parents)));
  }
  return tree;
}

/** Judges agents of a tree, narrows those that have everything, and gives memberships. */
export async function settleTree(at: Trees, d: Draws, tree: readonly Grown[]): Promise<void> {
  const { entity: ann } = tree[0] as Grown;
  for (const grown of tree.slice(1)) {
    const { node: parent } = tree[grown.node.parent] as Grown;
    const reads = parent.tier >= 2 || parent.floor >= 2; // else the parent reads no item that it could judge
    if (grown.wasWide && reads && d.once(5)) await judge(at, tree, grown);
  }
  for (const grown of tree.slice(1)) {
    if (grown.wasWide) await narrow(ann, grown, capsOf(d), d.once(4) ? capsOf(d) : undefined);
    for (const group of d.some(GROUPS)) await join(at, grown.node, group, d.of(ROLES));
  }
}

/** Changes a tree: a revocation, a membership, or a status. */
export async function changeTree(at: Trees, d: Draws, tree: readonly Grown[]): Promise<void> {
  const { entity: ann } = tree[0] as Grown;
  for (let step = 0; step < STEPS; step++) {
    const grown = d.of(tree.slice(1));
    const { node } = grown;
    const isOver = isEnded(node) || at.clock.wall() >= node.end;
    if (!isOver && !node.failed && d.once(3)) {
      await failEntity(at.world, node.id);
      node.failed = true;
      node.knew = aboveOf(tree, node);
      for (const { node: child } of tree.filter((one) => tree[one.node.parent] === grown))
        child.meanwhile = [child.members];
    }
    switch (isOver ? 3 : d.below(node.failed ? 3 : 5)) {
      case 0:
        if (node.parent === 0) await narrow(ann, grown, capsOf(d));
        else await narrow(ann, grown, { tools: [] });
        break;
      case 1:
        await narrow(ann, grown, { memory_write: { layers: [], groups: [], visibility: [] } });
        break;
      case 2:
        await ann.setStatus(node.id, 'deactivate');
        if (node.failed) node.cuts = [...node.cuts, { ended: true }];
        else node.status = 'deactivated';
        break;
      default: {
        if (node.failed) break;
        const group = d.of(GROUPS);
        if (node.members[group] === undefined) await join(at, node, group, d.of(ROLES));
        else await leave(at, node, group);
      }
    }
  }
}

/** A person, as the oracle knows one: alive, and above nobody yet. */
export const PERSON = {
  parent: -1,
  kind: 'person',
  declared: {},
  tier: 2,
  floor: 0,
  bonus: [],
  members: {},
  meanwhile: [],
  owners: {},
  status: 'active',
  end: Number.POSITIVE_INFINITY,
  swarm: '',
  reviews: [],
  failed: false,
  cuts: [],
  knew: [],
} as const;

function aboveOf(tree: readonly Grown[], { parent }: Node): readonly Node[] {
  const grown = tree[parent];
  return grown === undefined ? [] : [{ ...grown.node }, ...aboveOf(tree, grown.node)];
}

/** Whether an agent has ended, or was ended for it. */
export function isEnded({ status, cuts }: Node): boolean {
  return status === 'deactivated' || cuts.some(({ ended }) => ended === true);
}

async function register(at: Trees, d: Draws, tree: readonly Grown[], parent: Grown): Promise<Grown> {
  const isDirect = parent.depth === 0 && d.once(2);
  const caps = isDirect ? capsOf(d) : {};
  const granted = isDirect && d.once(3) ? capsOf(d) : undefined;
  const ttl = isDirect && d.once(3) ? { ttl_seconds: TTL_SECONDS } : {};
  const [kind, floor] = [d.of(KINDS), d.of([0, 0, 1, 2])];
  const { agent_id, expires_at } = await parent.entity.register({
    agentType: kind,
    displayName: `Agent ${tree.length}`,
    capabilities: { ...caps, ...ttl } as unknown as Capabilities,
    ...(granted === undefined ? {} : { grant: granted as unknown as Capabilities }),
    trustFloor: (['untrusted', 'low', 'medium'] as const)[floor] as 'low',
  });
  const end = typeof expires_at === 'string' ? Date.parse(expires_at) : Number.POSITIVE_INFINITY;
  const node: Node = {
    ...PERSON,
    ...{ id: agent_id, parent: tree.indexOf(parent), kind, declared: caps, floor, end, status: 'active', members: {} },
    ...(granted === undefined ? {} : { granted }),
  };
  return { node, entity: at.office.entity(agent_id), depth: parent.depth + 1, wasWide: !isDirect };
}

/** The parent judges items of the agent: its tier falls to low. */
async function judge(at: Trees, tree: readonly Grown[], { node, entity }: Grown): Promise<void> {
  const parent = tree[node.parent] as Grown;
  for (const { id } of [parent.node, node]) await at.office.group(JUDGED).join(id);
  for (let n = 0; n < WRONG; n++) {
    const item = { type: 'note', content: `Item ${n}.`, visibility: 'group', group: JUDGED } as const;
    const { item_id } = await entity.use('memory_write_warm', item);
    await parent.entity.use('memory_assess', { item_id, verdict: 'wrong', basis: 'user' });
  }
  node.tier = 1;
}

async function narrow(ann: Entity, { node }: Grown, stated: Caps, grant?: Caps): Promise<void> {
  const caps = node.parent === 0 ? stated : ungranted(node, stated);
  const change = { capabilities: caps, ...(grant === undefined ? {} : { grant }) } as unknown as Parameters<
    Entity['capabilities']
  >[1];
  if (node.failed && takesNothing(caps)) return; // such a change is refused
  await ann.capabilities(node.id, change);
  if (node.failed) {
    node.cuts = [...node.cuts, { capabilities: caps }];
    return;
  }
  if (grant !== undefined) node.granted = { ...(node.granted ?? node.declared), ...grant };
  node.declared = { ...node.declared, ...caps };
}

/** Only its parent lets a claude-code agent into the parent's private store: a scope that was left out grants none. */
function ungranted({ kind, declared }: Node, { memory_read, memory_write, ...rest }: Caps): Caps {
  const without = (scope: Scope | undefined, was: Scope | undefined) =>
    scope === undefined || was !== undefined || kind !== 'claude-code'
      ? scope
      : { ...scope, visibility: scope.visibility.filter((one) => one !== 'private') };
  const read = without(memory_read, declared.memory_read);
  const write = without(memory_write, declared.memory_write);
  return {
    ...rest,
    ...(read === undefined ? {} : { memory_read: read }),
    ...(write === undefined ? {} : { memory_write: write }),
  };
}

/** Whether a change takes nothing from an agent, whatever it has. */
function takesNothing({ memory_read, memory_write, tools, max_parallel_ops, autonomous }: Caps): boolean {
  const isWide = tools === undefined || tools.includes('*');
  const named = [memory_read, memory_write, max_parallel_ops].some((one) => one !== undefined);
  return isWide && !named && autonomous !== false;
}

async function join({ office }: Trees, node: Node, group: string, role: (typeof ROLES)[number]): Promise<void> {
  await office.group(group).join(node.id, role);
  changeMembers(node, { ...node.members, [group]: role });
}

async function leave({ office }: Trees, node: Node, group: string): Promise<void> {
  await office.group(group).leave(node.id);
  const { [group]: _, ...others } = node.members;
  changeMembers(node, others);
}

function changeMembers(node: Node, members: Node['members']): void {
  node.members = members;
  if (node.meanwhile.length > 0) node.meanwhile = [...node.meanwhile, members];
}

/** Wide more often than not: else nothing would be allowed a few generations below. */
function capsOf(d: Draws): Caps {
  const scope = () => ({
    layers: d.once(4) ? d.some(['l1', 'l2']) : ['l1', 'l2'],
    groups: d.some(GROUP_PATTERNS),
    visibility: d.once(3) ? d.some(['private', 'group', 'public']) : ['private', 'group', 'public'],
  });
  return {
    ...(d.once(2) ? {} : { memory_read: scope() }),
    ...(d.once(2) ? {} : { memory_write: scope() }),
    ...(d.once(2) ? {} : { tools: d.some(TOOL_PATTERNS) }),
    ...(d.once(2) ? {} : { max_parallel_ops: 8 + d.below(9) }),
    ...(d.once(2) ? {} : { autonomous: !d.once(4) }),
  };
}

/** What an entity may use now, as the gate of the world finds it. */
export async function effectiveOf({ world }: Trees, id: string): Promise<Capability | undefined> {
  return (await world.kernel.rights(`cell:society/Entity@1/${id}`)).effective?.exercise;
}
