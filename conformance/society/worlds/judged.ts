/** Judges trees in real worlds: every operation is asked of the world's gate, and some are really called. */
import type { Capability } from '@reprise/contracts';
import { isExpired, permits } from '@reprise/kernel/authority';
import type { society } from 'reprise/society';
import { draws } from '../draws.js';
import { may, type Node, parallel, type Question } from '../oracle.js';
import {
  changeTree,
  effectiveOf,
  GROUPS,
  type Grown,
  growTree,
  isEnded,
  openTrees,
  settleTree,
  TOOLS,
  type Trees,
} from './grown.js';

/** What was found in a run. */
export interface FoundInWorlds extends JudgedHow {
  trees: number;
  questions: number;
  allowed: number;
  calls: number;
  frames: number;
  disagreements: number;
  first?: string;
}

/** The trees that share one world of memory, and the calls of a tree. */
const SHARED = 25;
const CALLS = 4;
/** Refused calls suspend an agent when five come within ten minutes. */
const BETWEEN_CALLS_MS = 150_000;

/** How trees are judged. */
export interface JudgedHow {
  readonly part?: ReturnType<typeof society> | undefined;
  /** Goes on behind a disagreement; else the first one ends the run. */
  readonly keepGoing?: boolean | undefined;
  /** Hears of each disagreement. */
  readonly told?: ((what: string) => void) | undefined;
}

/** Judges trees from a seed on, in worlds that each are verified. */
export async function judgeWorlds(trees: number, seed: number, how: JudgedHow = {}): Promise<FoundInWorlds> {
  const found: FoundInWorlds = { trees: 0, questions: 0, allowed: 0, calls: 0, frames: 0, disagreements: 0, ...how };
  while (found.trees < trees && goesOn(found))
    await judgeWorld(Math.min(SHARED, trees - found.trees), seed + found.trees, found);
  return found;
}

function goesOn({ keepGoing = false, disagreements }: FoundInWorlds): boolean {
  return keepGoing || disagreements === 0;
}

async function judgeWorld(trees: number, seed: number, found: FoundInWorlds): Promise<void> {
  const at = await openTrees(found.part);
  for (let n = 0; n < trees && goesOn(found); n++, found.trees++) await judgeTree(at, seed + n, found);
  const { unverified, frames } = await at.world.verify();
  found.frames += frames;
  await at.world.close();
  if (unverified > 0) disagree(found, `seed ${seed}: ${unverified} frames were not verified`);
}

async function judgeTree(at: Trees, seed: number, found: FoundInWorlds): Promise<void> {
  const d = draws(seed);
  const before = found.disagreements;
  const tree = await growTree(at, d, `p${seed}`);
  await askAll(at, tree, seed, found);
  await settleTree(at, d, tree);
  await askAll(at, tree, seed, found);
  await changeTree(at, d, tree);
  await askAll(at, tree, seed, found);
  for (let n = 0; n < CALLS && found.disagreements === before; n++) {
    await tryOne(at, d.of(tree.slice(1)), tree, { seed, tool: d.of(TOOLS), group: d.of(GROUPS) }, found);
    await at.clock.advance(BETWEEN_CALLS_MS);
  }
}

/** Asks the gate of the world about every operation of every agent. */
async function askAll(at: Trees, tree: readonly Grown[], seed: number, found: FoundInWorlds): Promise<void> {
  const nodes = tree.map(({ node }) => node);
  const now = at.clock.wall();
  for (const [index, { node }] of tree.entries()) {
    if (index === 0) continue;
    const rights = await effectiveOf(at, node.id);
    for (const question of questionsOf(nodes, now)) {
      const [allowed, right] = [rights !== undefined && answer(rights, question), may(nodes, index, question)];
      found.questions++;
      if (right) found.allowed++;
      if (allowed === right) continue;
      return disagree(found, told(seed, nodes, index, `${JSON.stringify(question)}: ${allowed}, expected ${right}`));
    }
    const limit = rights?.max_parallel ?? Number.POSITIVE_INFINITY;
    const isOver = nodes.some((one, n) => isAbove(nodes, n, index) && isEnded(one));
    if (!isOver && limit !== parallel(nodes, index))
      return disagree(found, told(seed, nodes, index, `${limit} at once, expected ${parallel(nodes, index)}`));
  }
}

function questionsOf(nodes: readonly Node[], now: number): readonly Question[] {
  const stores = [
    'public',
    ...nodes.flatMap(({ id }) => [`l1-notes:${id}`, `private:${id}`]),
    ...GROUPS.map((group) => `group:${group}`),
  ];
  return [
    ...[...TOOLS, 'swarm_create'].map((name) => ({ ask: 'tool', name, now })),
    ...GROUPS.map((name) => ({ ask: 'group', name, now })),
    { ask: 'unwatched', name: 'society.call@1', now },
    ...stores.flatMap((name) => ['read', 'write'].map((ask) => ({ ask, name, now }))),
  ];
}

const DIMENSION: Readonly<Record<string, string>> = { read: 'mem_read', write: 'mem_write' };

function answer(rights: Capability, { ask, name, now }: Question): boolean {
  return permits(rights, DIMENSION[ask] ?? ask, name) && !isExpired(rights, now);
}

interface Tried {
  readonly seed: number;
  readonly tool: (typeof TOOLS)[number];
  readonly group: string;
}

/** Calls a tool as an agent: what it is answered follows from the rules. */
async function tryOne(
  at: Trees,
  { node, entity }: Grown,
  tree: readonly Grown[],
  { seed, tool, group }: Tried,
  found: FoundInWorlds,
): Promise<void> {
  const nodes = tree.map((one) => one.node);
  const index = nodes.indexOf(node);
  const now = at.clock.wall();
  if (node.failed) return tryFailed(entity, { seed, index, tool, group }, found);
  const expected = expectedOf(nodes, index, { tool, group, now });
  const { value, is_error } = await entity.answerTo(tool, argsOf(tool, group) as never);
  const { error, detail, code, withheld } = value as unknown as Record<string, string | number | undefined>;
  const said = is_error
    ? (code ?? `${error} ${detail}`)
    : tool === 'memory_search' && withheld !== 0
      ? 'withheld'
      : 'done';
  found.calls++;
  if (said !== expected)
    disagree(found, told(seed, nodes, index, `${tool} of ${group}: ${said}, expected ${expected}`));
}

/** A failed agent answers no call: the world says so. */
async function tryFailed(
  entity: Grown['entity'],
  { seed, index, tool, group }: Tried & { readonly index: number },
  found: FoundInWorlds,
): Promise<void> {
  const code = await entity.answerTo(tool, argsOf(tool, group) as never).then(
    () => 'an answer',
    (error: { readonly code?: string }) => error.code,
  );
  found.calls++;
  if (code !== 'cell_failed') disagree(found, `seed ${seed}, failed node ${index}, ${tool}: ${code}`);
}

/** What a call is answered: `done`, or why not. */
function expectedOf(
  nodes: readonly Node[],
  index: number,
  { tool, group, now }: Omit<Tried, 'seed'> & { now: number },
) {
  const asks = (ask: string, name: string) => may(nodes, index, { ask, name, now });
  if (!operates(nodes, index, now)) return 'agent_not_active';
  if (!asks('tool', tool)) return 'capability_denied tool';
  if (tool === 'memory_search') return asks('read', `group:${group}`) ? 'done' : 'withheld';
  if (tool !== 'memory_read_warm' && tool !== 'memory_write_warm') return 'done';
  if (!asks('group', group)) return 'capability_denied group';
  const side = tool === 'memory_read_warm' ? 'read' : 'write';
  return asks(side, `group:${group}`) ? 'done' : 'capability_denied visibility';
}

/** Whether an agent may act by its status: one that is not autonomous stands still with its parent. */
function operates(nodes: readonly Node[], index: number, now: number): boolean {
  return isActive(nodes[index] as Node, aboveOf(nodes, index), now);
}

/** What happens above a failed agent it does not hear, and those below it do not hear of it. */
function isActive({ kind, status, end, declared, failed, knew }: Node, above: readonly Node[], now: number): boolean {
  if (kind === 'person') return true;
  if (status !== 'active' || (!failed && now >= end)) return false;
  if (declared.autonomous === true) return true;
  const [parent, ...others] = failed ? knew : above;
  return parent !== undefined && isActive(parent, others, failed ? 0 : now);
}

function aboveOf(nodes: readonly Node[], index: number): readonly Node[] {
  const { parent } = nodes[index] as Node;
  return parent < 0 ? [] : [nodes[parent] as Node, ...aboveOf(nodes, parent)];
}

function argsOf(tool: string, group: string): object {
  if (tool === 'memory_search') return { query: 'item', groups: [group] };
  if (tool === 'memory_read_warm') return { group };
  if (tool !== 'memory_write_warm') return {};
  return { type: 'note', visibility: 'group', group, content: 'Tried.' };
}

function isAbove(nodes: readonly Node[], above: number, index: number): boolean {
  for (let at = index; at >= 0; at = (nodes[at] as Node).parent) if (at === above) return true;
  return false;
}

function disagree(found: FoundInWorlds, what: string): void {
  found.disagreements++;
  found.first ??= what;
  found.told?.(what);
}

function told(seed: number, nodes: readonly Node[], index: number, what: string): string {
  return `seed ${seed}, node ${index}, ${what}\n${JSON.stringify(nodes)}`;
}
