/** A tree of thirty nodes that is forked before the launch of node 4: dry, and live with another model. */
import { type AgentWorld, defineAgent, defineTool, openAgentWorld, putText } from '@reprise/agent';
import { type Address, forkReport, type Store } from '@reprise/kernel';
import { factIn } from '@reprise/org';
import { llmGenerateAdapter, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';
import { type NodeRow, type Trees, treeFacts, trees } from '@reprise/tree';
import * as z from 'zod';
import { quickMemory } from '../quick-memory.js';

/** The node before whose launch the tree is forked. */
export const CUT_AT = 4;

const NAME = 't';
const TREE: Address = ['tree/Tree@1', NAME];

/** How nodes make children: by calls of their owner, or, to show what that is for, by a tool that sends requests. */
export type Making = 'owner calls' | 'handlers';

/** What a dry fork came to. */
export interface DryFork {
  /** The nodes of the original that the fork has as well, with the same state. */
  readonly nodes: number;
  /** Those that it does not have at all. */
  readonly missing: number;
  /** The calls of the model in the fork. */
  readonly calls: number;
  readonly isSameResult: boolean;
  /** Effects that the original did not have. */
  readonly unmatched: number;
}

/** A launch: the first whose run gives something else than in the original. */
export interface Departed {
  readonly n: number;
  readonly launch: number;
  /** Its frames in the fork and in the original. */
  readonly frame: number;
  readonly original: number;
}

/** What both forks came to. */
export interface Forked {
  readonly nodes: number;
  readonly dry: DryFork;
  readonly live: { readonly calls: number; readonly departs: Departed | undefined };
}

/** Grows the tree, and forks it. */
export async function growAndFork(making: Making): Promise<Forked> {
  const store = quickMemory();
  const [dry, live] = [quickMemory(), quickMemory()];
  const grown = await grow(store, making, async (world) => {
    const at = (await launchesOf(world)).get(`${CUT_AT}.1`)?.frame ?? 0;
    await world.fork({ at: at - 1, into: dry });
    await world.fork({ at: at - 1, into: live, mode: 'live', grants: { may: {} } });
  });
  const again = await grow(dry, making);
  const report = await forkReport(await dry.openReadonly(), await store.openReadonly());
  const other = await grow(live, making, undefined, (n) => `what another model says of ${n}`);
  return {
    nodes: grown.rows.length,
    dry: {
      nodes: grown.rows.filter((row, i) => stateOf(row) === stateOf(again.rows[i])).length,
      missing: grown.rows.length - again.rows.length,
      calls: again.calls,
      isSameResult: again.result !== undefined && again.result === grown.result,
      unmatched: report.unmatched.length,
    },
    live: { calls: other.calls, departs: departure(grown.launches, other.launches) },
  };
}

interface Launch extends Omit<Departed, 'original'> {
  readonly prompt: string;
  /** What the run gave: the children that its node made, and its result. */
  gave: string;
}

interface Grown {
  readonly rows: readonly NodeRow[];
  readonly result: string | undefined;
  readonly calls: number;
  readonly launches: ReadonlyMap<string, Launch>;
}

/** Opens a world, and lets its tree end; starts one in an empty world. */
async function grow(
  store: Store,
  making: Making,
  behind: (world: AgentWorld) => Promise<void> = async () => undefined,
  say = (n: number) => `the result of ${n}`,
): Promise<Grown> {
  let calls = 0;
  const model = scriptBy((request) => {
    calls++;
    return { usage: { tokens_in: 10, tokens_out: 5 }, ...answer(request, making, say) };
  });
  let opened: AgentWorld | undefined;
  const part = trees({ agents: [workerOf(() => opened)] });
  await using world = await openAgentWorld({
    store,
    agents: [],
    parts: [part],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
  opened = world;
  const forest: Trees = world.part(part);
  const tree = forest.tree(NAME);
  const isForked = world.kernel.forked !== undefined;
  if (!isForked) await forest.start(NAME, { goal: 'the whole', limits: { parallel: 1 } });
  // A fork in which nothing is left to do ends nothing: its tree is read as it stands.
  await world.kernel.pump();
  const rows = await tree.nodes({ limit: 100 });
  const hasEnded = ['complete', 'failed', 'cancelled'].includes(rows[0]?.status ?? '');
  const result = hasEnded ? (await tree.result()).text : undefined;
  await behind(world);
  return { rows, result, calls, launches: await launchesOf(world) };
}

/** A worker; its own tool makes children by requests to the tree, as no tool of a tree should. */
function workerOf(world: () => AgentWorld | undefined) {
  const makeChildren = defineTool({
    name: 'make_children',
    description: 'Makes children of a node.',
    args: z.strictObject({ node: z.int(), count: z.int() }),
    run: async ({ node, count }) => {
      const { kernel } = world() ?? {};
      if (kernel === undefined) throw new Error('no world is open');
      const spec = { goal: `a part of ${node}`, prompt_ref: await putText(kernel.content, 'Do your part.') };
      const value = { parent: node, type: 'spawn', nodes: Array.from({ length: count }, () => spec) };
      await kernel.request(TREE, { name: 'tree/Add@1', value });
      return 'made';
    },
  });
  return defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [makeChildren] });
}

/** The root makes five children, all of them but node 4 four, and the first eight of those one: thirty nodes. */
function childrenOf(n: number): number {
  if (n === 1) return 5;
  if (n <= 6) return n === CUT_AT ? 0 : 4;
  return n <= 14 ? 1 : 0;
}

function answer(request: ScriptRequest, making: Making, say: (n: number) => string): ScriptStep {
  const { messages, last } = request;
  const prompts = messages.flatMap(({ text }, i) => (/^You are node #\d+/.test(text) ? [{ text, i }] : []));
  const { text = '', i = 0 } = prompts.at(-1) ?? {};
  const n = Number(/^You are node #(\d+)/.exec(text)?.[1]);
  const step = messages.slice(i).filter(({ role }) => role === 'assistant').length;
  if (last.includes('"accepted":true')) return { text: 'Done.' };
  const count = text.includes('Results of your children') ? 0 : childrenOf(n);
  if (count === 0) return { calls: [{ tool: 'complete', args: { result: say(n) } }] };
  if (step > 0) return { text: 'They are made.' };
  if (making === 'handlers') return { calls: [{ tool: 'make_children', args: { node: n, count } }] };
  const spawn = { tool: 'spawn', args: { goal: `a part of ${n}`, prompt: 'Do your part.' } };
  return { calls: Array.from({ length: count }, () => spawn) };
}

/** The launches of the tree by node and number, with what their runs gave. */
async function launchesOf({ kernel }: AgentWorld): Promise<ReadonlyMap<string, Launch>> {
  const launches = new Map<string, Launch>();
  const last = new Map<number, Launch>();
  for await (const { seq: frame, records } of kernel.frames(0)) {
    for (const record of records) {
      if (record.kind !== 'fact' || record.from?.[0] !== TREE[0]) continue;
      const launched = factIn(record, [treeFacts, 'tree/Launched@1']);
      const changed = factIn(record, [treeFacts, 'tree/NodeChanged@1']);
      if (launched !== undefined) {
        const { n, launch, prompt_ref } = launched;
        const one: Launch = { n, launch, frame, prompt: String(prompt_ref), gave: '' };
        launches.set(`${n}.${launch}`, one);
        last.set(n, one);
      } else if (changed !== undefined) {
        const { n, parent, result, run } = changed;
        const own = last.get(n);
        if (own !== undefined && run === 'none' && result !== null) own.gave += ` ${String(result.ref)}`;
        const above = last.get(parent ?? 0);
        if (above !== undefined && own === undefined && !above.gave.includes(` #${n}`)) above.gave += ` #${n}`;
      }
    }
    if (frame >= kernel.head.seq) break;
  }
  return launches;
}

/** The first launch of a fork with another prompt than in the original, or whose run gave something else. */
function departure(original: ReadonlyMap<string, Launch>, fork: ReadonlyMap<string, Launch>): Departed | undefined {
  for (const [at, { n, launch, frame, prompt, gave }] of fork) {
    const was = original.get(at);
    if (was === undefined || was.prompt !== prompt || was.gave !== gave)
      return { n, launch, frame, original: was?.frame ?? -1 };
  }
  return undefined;
}

function stateOf(row: NodeRow | undefined): string {
  return JSON.stringify(row ?? null);
}
