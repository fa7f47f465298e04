/*
 * One session of very many turns: a text, an answer of the model, and every tenth turn a tool call. The window
 * of the model is small, so the session is summarized again and again, and what is sent does not grow.
 *
 * It takes tasks from `age/run.mjs`: how many turns to take. The answer says how many events and how much CPU they took.
 */
import { createHash } from 'node:crypto';
import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';
import { serve } from '../peers/programs/serve.mjs';

const WINDOW = 2_000;
const CALLS = 10;

const [file] = process.argv.slice(2);
const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks a word up.',
  args: z.strictObject({ word: z.string() }),
  run: ({ word }) => `The word ${word} stands in the book.`,
});
const agent = defineAgent({
  name: 'talker',
  model: 'main',
  instructions: 'Look words up.',
  tools: [lookUp],
  contextWindow: WINDOW,
  compaction: { at: 70, keep: 3 },
});

function answer({ unified, last }) {
  if (unified.toolChoice === 'none')
    return { text: `They counted on, and the last they said was: ${last.slice(0, 80)}` };
  const turn = Number(/^Turn (\d+)/.exec(last)?.[1]);
  const isCall = unified.messages.at(-1)?.role === 'user' && turn % CALLS === 0;
  return isCall
    ? { calls: [{ tool: 'look_up', args: { word: last.slice(-30) } }] }
    : { text: `I have found: ${last.slice(0, 200)}` };
}

/** A model that remembers nothing, and says how long its request was. */
const main = {
  profile: { ...scriptBy(answer).profile, profile_id: 'main' },
  write: (request) => scriptBy(answer).write(request),
  generate: async (request, context) => {
    const result = await scriptBy(answer).generate(request, context);
    if (!result.ok) return result;
    const tokens_in = Math.ceil(JSON.stringify(request.messages).length / 4);
    return { ok: true, response: { ...result.response, usage: { calls: 1, tokens_in, tokens_out: 20 } } };
  },
};
const hash = (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest());
const store = file === undefined ? memory({ hash }) : sqlite(file);
const world = await openWorld({ store, models: { main }, agents: [agent] });
const session = world.session('long', agent);
let turn = 0;

await serve(async ({ turns }) => {
  const [began, frames] = [process.cpuUsage(), world.kernel.head.seq];
  for (const end = turn + turns; turn < end; turn++) {
    const run = await session.send(`Turn ${turn}: what is word number ${turn * 7}?`, { id: `m${turn}` });
    const { stop } = await run.result();
    if (stop.kind !== 'Completed') throw new Error(`turn ${turn} ended as ${JSON.stringify(stop)}`);
  }
  const { user, system } = process.cpuUsage(began);
  return { turn, events: world.kernel.head.seq - frames, micros: user + system, heap: process.memoryUsage().heapUsed };
});
