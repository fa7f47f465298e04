/**
 * The owner of a tree of 31 nodes, as a process that may be killed at any moment: it opens the world with telemetry, starts the tree
 * or goes on with it, and says each model call. Arguments: the world's file, the address of the collector, the file of the cursor.
 */
import { type AgentWorld, defineAgent, openAgentWorld } from '@reprise/agent';
import { startTelemetry } from '@reprise/otel';
import { llmGenerateAdapter, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import { trees } from '@reprise/tree';

const [file = '', url = '', cursor = ''] = process.argv.slice(2);

const script = scriptBy((request) => ({ ...answer(request), usage: { tokens_in: 10, tokens_out: 5 } }));
const model: typeof script = {
  ...script,
  generate: async (request, context) => {
    const written = script.generate(request, context);
    console.log('call');
    await new Promise((resolve) => setTimeout(resolve, 2));
    return written;
  },
};

/** Node 1 makes five nodes, each of which makes five. */
function answer({ messages, last }: ScriptRequest): ScriptStep {
  if (last.includes('"accepted":true')) return { text: 'Done.' };
  const prompts = messages.flatMap(({ text }, i) => (/^You are node #\d+/.test(text) ? [{ text, i }] : []));
  const { text = '', i = 0 } = prompts.at(-1) ?? {};
  const n = Number(/^You are node #(\d+)/.exec(text)?.[1] ?? 0);
  const step = messages.slice(i).filter(({ role }) => role === 'assistant').length;
  const isSynthesis = text.includes('Results of your children');
  const isLeaf = n > 6;
  if (isLeaf || isSynthesis) return { calls: [{ tool: 'complete', args: { result: `the result of ${n}` } }] };
  if (step > 0) return { text: 'They are made.' };
  const part = (i: number) => ({ tool: 'spawn', args: { goal: `part ${i} of ${n}`, prompt: 'Do your part.' } });
  return { calls: [0, 1, 2, 3, 4].map(part) };
}

const part = trees({ agents: [defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' })] });
const world = await openAgentWorld({
  ...{ store: sqlite(file), agents: [], parts: [part], models: { main: {} } },
  observers: [({ kernel }: AgentWorld) => startTelemetry(kernel, { url, cursor })],
  llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
});
const tree = await world.part(part).start('t', { goal: 'the whole' }, { id: 'start' });
const { status } = await tree.result();
const rows = await tree.nodes();
await world.close();
console.log(`ended ${status} ${rows.length}`);
