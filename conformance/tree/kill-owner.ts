/**
 * The owner of one tree, as a process that may be killed at any moment: it opens the world, starts the tree or goes on with
 * it, and prints what became of it. Arguments: the world's file, the address of the model's server, the file of marks, and
 * `forgets` for a broken one: it knows of launches only what is in its memory, and begins again what was under way.
 */
import { appendFileSync } from 'node:fs';
import { defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { llmGenerateAdapter, type ScriptRequest, type ScriptStep, scriptBy } from '@reprise/providers';
import { sqlite } from '@reprise/store-sqlite';
import { trees } from '@reprise/tree';
import * as z from 'zod';

const [file = '', server = '', marks = '', forgets] = process.argv.slice(2);

const mark = defineTool({
  name: 'mark',
  description: 'Notes that a run has begun.',
  args: z.strictObject({ place: z.string() }),
  run: ({ place }) => {
    appendFileSync(marks, `${place}\n`);
    return 'noted';
  },
});

/** The place of the last request: node, run, and the answers that the run has had. */
let place = '';

const script = scriptBy((request) => {
  const { n, run, step, isSynthesis } = placeOf(request);
  place = `${n}.${run}.${step}`;
  return { usage: { tokens_in: 10, tokens_out: 5 }, ...answer({ n, run, step, isSynthesis }, request.last) };
});

/** Each call of the model is a request that a server counts, and that takes a while. */
const model: typeof script = {
  ...script,
  generate: async (request, context) => {
    const written = script.generate(request, context);
    const asked = place;
    await fetch(`${server}/${asked}`, { method: 'POST', signal: context.signal });
    return written;
  },
};

interface Place {
  readonly n: number;
  readonly run: number;
  readonly step: number;
  readonly isSynthesis: boolean;
}

function placeOf({ messages }: ScriptRequest): Place {
  const prompts = messages.flatMap(({ text }, i) => (/^You are node #\d+/.test(text) ? [{ text, i }] : []));
  const { text = '', i = 0 } = prompts.at(-1) ?? {};
  const step = messages.slice(i).filter(({ role }) => role === 'assistant').length;
  const n = Number(/^You are node #(\d+)/.exec(text)?.[1] ?? 0);
  return { n, run: prompts.length - 1, step, isSynthesis: text.includes('Results of your children') };
}

/** Node 1 makes four nodes, two of which make three each. Each run marks its beginning, and those above run again. */
function answer({ n, run, step, isSynthesis }: Place, last: string): ScriptStep {
  if (last.includes('"accepted":true')) return { text: 'Done.' };
  if (step === 0) return { calls: [{ tool: 'mark', args: { place: `${n}.${run}` } }] };
  const children = isSynthesis ? 0 : n === 1 ? 4 : n < 4 ? 3 : 0;
  if (children === 0) return { calls: [{ tool: 'complete', args: { result: `the result of ${n}` } }] };
  if (step > 1) return { text: 'They are made.' };
  const spawn = { tool: 'spawn', args: { goal: `a part of ${n}`, prompt: 'Do your part.' } };
  return { calls: Array.from({ length: children }, () => spawn) };
}

/** What an owner does whose launches are not in the state of the tree. */
async function beginAgain(): Promise<void> {
  for (const { n, run } of await tree.nodes()) {
    if (n === 1 || run === 'none') continue;
    await tree.stop(n);
    await tree.retry(n, { fresh: true });
  }
}

const part = trees({ agents: [defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [mark] })] });
await using world = await openAgentWorld({
  store: sqlite(file),
  agents: [],
  parts: [part],
  models: { main: {} },
  llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
});
const tree = await world.part(part).start('t', { goal: 'the whole' }, { id: 'start' });
if (forgets === 'forgets') await beginAgain();
console.log('open');
const { status } = await tree.result();
const rows = await tree.nodes();
const nodes = await Promise.all(rows.map(({ n }) => tree.node(n)));
const { unverified } = await world.verify();
const seen = nodes.map((node) => ({
  n: node?.n,
  status: node?.status,
  launches: node?.launches.map(({ session, run }) => `${session} ${run}`),
}));
console.log(`ended ${JSON.stringify({ status, unverified, nodes: seen })}`);
