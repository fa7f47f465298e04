/** What a tree costs in CPU: for each node as it grows, and for each call of the model beside a bare session. */
import { type AnyAgent, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { llmGenerateAdapter, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';
import { nodeTools, trees } from '@reprise/tree';
import * as z from 'zod';

/** The children of one node. */
const FAN = 22;

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });

/** Milliseconds of CPU of this process, without the system's. */
const cpuMs = (): number => process.cpuUsage().user / 1_000;

/** Each node is told how many nodes to grow below it, divides them among its children, and is run again with their results. */
function growing({ last, messages }: ScriptRequest): ScriptStep {
  if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
  const below = last.includes('Results of your children') ? 0 : Number(/grow (\d+) nodes/.exec(last)?.[1] ?? 0);
  if (below === 0) return { calls: [{ tool: 'complete', args: { result: 'grown' } }] };
  const count = Math.min(FAN, below);
  const parts = Array.from({ length: count }, (_, i) => Math.floor((below - count + i) / count));
  return {
    calls: parts.map((part) => ({ tool: 'spawn', args: { goal: 'a part', prompt: `Please grow ${part} nodes.` } })),
  };
}

/** Grows a tree of so many nodes, each of which calls the model. @returns milliseconds of CPU for each node */
export async function cpuPerNode(nodes: number): Promise<number> {
  const part = trees({ agents: [worker] });
  await using world = await openAgentWorld({
    store: memory(),
    agents: [],
    parts: [part],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: scriptBy(growing) }, { judge }),
  });
  const began = cpuMs();
  const limits = { nodes, parallel: 8 };
  const tree = await world.part(part).start('t', { goal: 'all', prompt: `Please grow ${nodes - 1} nodes.`, limits });
  const { status } = await tree.result();
  const ms = (cpuMs() - began) / nodes;
  const grown = (await tree.node(nodes))?.status;
  if (status !== 'complete' || grown !== 'complete') throw new Error(`the tree is ${status}, its last node ${grown}`);
  return ms;
}

/** What a call of the model costs, in milliseconds of CPU: medians of rounds, each with a tree and as many bare sessions. */
export interface CpuPerCall {
  readonly tree: number;
  readonly bare: number;
  /** The median of the quotients of the rounds. */
  readonly quotient: number;
}

/** The children of the root in one round; with the root and its synthesis they make as many runs as there are bare ones. */
const LEAVES = 60;

const note = defineTool({
  name: 'note',
  description: 'Takes a note.',
  args: z.strictObject({ result: z.string() }),
  guarantee: 'idempotent',
  run: () => 'ok',
});

/** A session with as many tools as a node has, and a prompt of like length. */
const tools = nodeTools({ returns: 'text', makes: true, unit: 'tokens', files: false });
const bare: AnyAgent = defineAgent({
  name: 'bare',
  model: 'main',
  instructions: 'Work.',
  tools: [note, ...tools.filter(({ name }) => name !== 'complete')] as never,
});
const BARE_INPUT = `Note it.${' It has some words, so that it is as long as a prompt.'.repeat(45)}`;

function answering({ last, messages }: ScriptRequest): ScriptStep {
  const complete = (result?: string) => ({ tool: 'complete', args: result === undefined ? {} : { result } });
  if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
  if (last.includes('Results of your children')) return { calls: [complete('all of it')] };
  if (/You are node #1\s/.test(last)) {
    const part = { tool: 'spawn', args: { goal: 'a part', prompt: 'Do your part of the work, please.' } };
    return { calls: [...Array.from({ length: LEAVES }, () => part), complete()] };
  }
  if (last.startsWith('Note it.')) return { calls: [{ tool: 'note', args: { result: 'the result of this part' } }] };
  return { calls: [complete('the result of this part')] };
}

/** Plays rounds in one world; the first ones, in which the code is compiled, do not count. */
export async function cpuPerCall(rounds: number, warming = 3): Promise<CpuPerCall> {
  const part = trees({ agents: [worker] });
  let calls = 0;
  const model = scriptBy((request) => {
    calls++;
    return answering(request);
  });
  await using world = await openAgentWorld({
    store: memory(),
    agents: [bare],
    parts: [part],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
  const measured = async (act: () => Promise<unknown>): Promise<number> => {
    calls = 0;
    const began = cpuMs();
    await act();
    return (cpuMs() - began) / calls;
  };
  const seen: { readonly tree: number; readonly bare: number }[] = [];
  for (let round = 0; round < rounds + warming; round++) {
    const tree = await measured(async () => {
      const spec = { goal: 'all', limits: { parallel: 8 } };
      await (await world.part(part).start(`t${round}`, spec)).result();
    });
    const alone = await measured(() =>
      Promise.all(
        Array.from({ length: LEAVES + 2 }, async (_, i) =>
          (await world.session(`b${round}.${i}`, bare).send(BARE_INPUT)).text(),
        ),
      ),
    );
    if (round >= warming) seen.push({ tree, bare: alone });
  }
  const middle = (numbers: number[]): number => numbers.sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
  return {
    tree: middle(seen.map(({ tree }) => tree)),
    bare: middle(seen.map((round) => round.bare)),
    quotient: middle(seen.map((round) => round.tree / round.bare)),
  };
}
