/** Random trees of agents, with memberships, tiers and revocations, judged at the level of compiled rights. */
import type { Capability } from '@reprise/contracts';
import { effectiveExercise, isExpired, meet, permits } from '@reprise/kernel/authority';
import { compileBound, compileRights, NO_RIGHTS, type RightsSource, TIERS } from '@reprise/society/contracts';
import { type Draws, draws } from './draws.js';
import { type Caps, type Cut, may, type Node, parallel, type Question, type Scope } from './oracle.js';

/** The code that is judged: it gives the effective rights of an entity from those of its chain, its own first. */
export interface Judged {
  readonly compile: typeof compileRights;
  readonly effective: (chain: readonly OfChain[]) => Capability;
  /** What those above hold an entity to, by what each of them took. */
  readonly hold: (cuts: readonly Cut[]) => Capability | undefined;
}

interface OfChain {
  readonly exercise: Capability;
  readonly grant: Capability;
  readonly hold: Capability | undefined;
}

export const OURS: Judged = {
  compile: compileRights,
  effective: (chain) => effectiveExercise(chain),
  hold: (cuts) => (cuts.length === 0 ? undefined : cuts.map(leftOf).reduce(meet)),
};

function leftOf({ ended, capabilities }: Cut): Capability {
  return ended === true ? NO_RIGHTS : compileBound(capabilities as Parameters<typeof compileBound>[0], 0);
}

const GROUPS = ['a', 'a1', 'a12', 'b', 'b1'];
const GROUP_PATTERNS = [...GROUPS, 'a*', 'a1*', 'b*', '*'];
const TOOLS = ['memory_search', 'memory_share', 'agent_list', 'agent_register', 'swarm_status'];
const TOOL_PATTERNS = [...TOOLS, 'memory_*', 'agent_*', '*'];
const KINDS = ['claude-code', 'swarm-worker', 'autonomous', 'custom'] as const;
const ROLES = ['owner', 'admin', 'member', 'viewer'] as const;
const STATUSES = ['registered', 'active', 'active', 'active', 'suspended', 'deactivated', 'removed'] as const;
const DEPTH = 6;
const NODES = 9;
const QUESTIONS = 12;
const STEPS = 3;

/** What was found in a run. */
export interface Found {
  trees: number;
  questions: number;
  allowed: number;
  disagreements: number;
  first?: string;
}

/** Judges trees from a seed on. It stops at the first disagreement. */
export function judgeTrees(trees: number, seed: number, judged: Judged = OURS): Found {
  const found: Found = { trees: 0, questions: 0, allowed: 0, disagreements: 0 };
  for (; found.trees < trees && found.disagreements === 0; found.trees++) judgeTree(seed + found.trees, judged, found);
  return found;
}

function judgeTree(seed: number, judged: Judged, found: Found): void {
  const d = draws(seed);
  const tree = grow(d);
  const compiled = (node: Node) => ({ ...judged.compile(sourceOf(tree, node)), hold: judged.hold(node.cuts) });
  const rights = tree.map(compiled);
  for (let step = 0; step <= STEPS; step++) {
    if (step > 0) {
      const index = d.below(tree.length);
      change(d, tree[index] as Node);
      rights[index] = compiled(tree[index] as Node);
    }
    for (let n = 0; n < QUESTIONS; n++) {
      const index = d.below(tree.length);
      const question = ask(d, tree);
      const effective = judged.effective(chainOf(tree, index).map((at) => rights[at] as (typeof rights)[number]));
      const [allowed, right] = [answer(effective, question), may(tree, index, question)];
      found.questions++;
      if (right) found.allowed++;
      const limit = effective.max_parallel ?? Number.POSITIVE_INFINITY;
      const acts = chainOf(tree, index).every((at) => !['deactivated', 'removed'].includes((tree[at] as Node).status));
      if (allowed === right && (!acts || limit === parallel(tree, index))) continue;
      found.disagreements++;
      found.first ??= `seed ${seed}, step ${step}, node ${index}, ${JSON.stringify(question)}: ${allowed}, expected ${right}\n${JSON.stringify(tree)}`;
      return;
    }
  }
}

const DIMENSION: Readonly<Record<string, string>> = { read: 'mem_read', write: 'mem_write' };

function answer(rights: Capability, { ask: asked, name, now }: Question): boolean {
  return permits(rights, DIMENSION[asked] ?? asked, name) && !isExpired(rights, now);
}

function chainOf(tree: readonly Node[], index: number): number[] {
  const chain: number[] = [];
  for (let at = index; at >= 0; at = (tree[at] as Node).parent) chain.push(at);
  return chain;
}

function grow(d: Draws): Node[] {
  const tree: Node[] = [nodeOf(d, -1, 0)];
  const count = 1 + d.below(NODES - 1);
  const depth = [0];
  while (tree.length < count) {
    const parent = d.once(2) ? tree.length - 1 : d.below(tree.length);
    if ((depth[parent] as number) >= DEPTH) continue;
    depth.push((depth[parent] as number) + 1);
    tree.push(nodeOf(d, parent, tree.length));
  }
  return tree;
}

function nodeOf(d: Draws, parent: number, index: number): Node {
  const isPerson = parent < 0;
  return {
    id: isPerson ? 'ann' : String(index).repeat(64).slice(0, 64),
    parent,
    kind: isPerson ? 'person' : d.of(KINDS),
    declared: isPerson && d.once(2) ? {} : capsOf(d),
    ...(d.once(4) ? { granted: capsOf(d) } : {}),
    tier: d.of([0, 1, 2, 2, 3]),
    floor: d.of([0, 0, 1, 2]),
    bonus: d.once(3) ? d.some(GROUPS) : [],
    members: membersOf(d),
    meanwhile: [],
    owners: ownersOf(d),
    status: isPerson ? 'active' : d.of(STATUSES.slice(0, 5)),
    end: d.once(4) ? 1 + d.below(10) : Number.POSITIVE_INFINITY,
    swarm: d.of(GROUPS),
    reviews: d.once(4) ? ['7'.repeat(64)] : [],
    failed: !isPerson && d.once(4),
    cuts: [],
    knew: [],
  };
}

function membersOf(d: Draws): Readonly<Record<string, string>> {
  return Object.fromEntries(d.some(GROUPS).map((group) => [group, d.of(ROLES)]));
}

function ownersOf(d: Draws): Readonly<Record<string, number>> {
  return d.once(2) ? {} : Object.fromEntries(d.some(GROUPS).map((group) => [group, d.below(TIERS.length)]));
}

/** Wide more often than not: else nothing would be allowed a few generations below. */
function capsOf(d: Draws): Caps {
  return {
    ...(d.once(2) ? {} : { memory_read: scopeOf(d) }),
    ...(d.once(2) ? {} : { memory_write: scopeOf(d) }),
    ...(d.once(2) ? {} : { tools: d.some(TOOL_PATTERNS) }),
    ...(d.once(2) ? {} : { max_parallel_ops: 1 + d.below(9) }),
    ...(d.once(2) ? {} : { autonomous: !d.once(4) }),
  };
}

function scopeOf(d: Draws): Scope {
  return {
    layers: d.once(4) ? d.some(['l1', 'l2']) : ['l1', 'l2'],
    groups: d.some(GROUP_PATTERNS),
    visibility: d.once(3) ? d.some(['private', 'group', 'public']) : ['private', 'group', 'public'],
  };
}

/** A revocation, a verdict, a membership, or a change of status. */
function change(d: Draws, node: Node): void {
  if (node.failed) {
    node.cuts = [...node.cuts, d.once(4) ? { ended: true } : { capabilities: capsOf(d) }];
    return;
  }
  switch (d.below(6)) {
    case 0:
      node.declared = capsOf(d);
      return;
    case 1:
      node.granted = capsOf(d);
      return;
    case 2:
      node.tier = d.below(4);
      return;
    case 3:
      node.members = membersOf(d);
      return;
    case 4:
      node.owners = ownersOf(d);
      return;
    default:
      node.status = d.of(STATUSES);
  }
}

function ask(d: Draws, tree: readonly Node[]): Question {
  const asked = d.of(['tool', 'group', 'unwatched', 'read', 'read', 'read', 'write', 'write', 'write']);
  return { ask: asked, name: nameOf(d, tree, asked), now: d.below(12) };
}

function nameOf(d: Draws, tree: readonly Node[], asked: string): string {
  if (asked === 'tool') return d.of(TOOLS);
  if (asked === 'group') return d.of(GROUPS);
  if (asked === 'unwatched') return 'society.call@1';
  const { id } = d.of(tree);
  return d.of([
    'public',
    `l1-notes:${id}`,
    `private:${id}`,
    `staging:${d.once(2) ? id : '7'.repeat(64)}.1`,
    `group:${d.of(GROUPS)}`,
    `group:${d.of(GROUPS)}`,
  ]);
}

function sourceOf(tree: readonly Node[], node: Node): RightsSource {
  const { id, kind, declared, granted, tier, floor, bonus, members, owners, status, end, parent, swarm, reviews } =
    node;
  return {
    agent_id: id,
    kind: kind as RightsSource['kind'],
    declared: declared as RightsSource['declared'],
    granted: (granted ?? null) as NonNullable<RightsSource['granted']> | null,
    tier: TIERS[tier] as RightsSource['tier'],
    trust_floor: TIERS[floor] as RightsSource['tier'],
    bonus_groups: [...bonus],
    memberships: Object.entries(members).map(([group, role]) => ({
      group,
      role,
      tier: owners[group] === undefined ? undefined : TIERS[owners[group]],
    })) as unknown as RightsSource['memberships'],
    status: status as RightsSource['status'],
    expires_at: Number.isFinite(end) ? end : null,
    parent_entity_id: tree[parent]?.id ?? null,
    swarm_group: swarm ?? null,
    reviews,
  };
}
