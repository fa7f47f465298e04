/*
 * A world of as many frames as are asked for: ten sessions that take turns, every tenth turn a tool call. It is written
 * to a file and left. Without snapshots in its last part, where that is asked for.
 *
 *   node workload.mjs FILE FRAMES [FRAMES WITHOUT A SNAPSHOT AT THE END]
 */
import { defineAgent, defineTool, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';

const SESSIONS = 10;
const [file, frames, bare = '0'] = process.argv.slice(2);
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
  contextWindow: 2_000,
  compaction: { at: 70, keep: 3 },
});
const main = scriptBy(({ unified, last }) => {
  if (unified.toolChoice === 'none') return { text: `They counted on: ${last.slice(0, 80)}` };
  const turn = Number(/^Turn (\d+)/.exec(last)?.[1]);
  const isCall = unified.messages.at(-1)?.role === 'user' && turn % 10 === 0;
  if (isCall) return { calls: [{ tool: 'look_up', args: { word: last.slice(-30) } }] };
  return { text: `I have found: ${last.slice(0, 200)}`, usage: { tokens_in: 500, tokens_out: 50 } };
});

let turn = 0;
const taken = await to(Number(frames) - Number(bare), {});
if (Number(bare) > 0) await to(Number(frames), { snapshotEvery: 0 });
console.log(JSON.stringify({ frames: taken }));

/** Opens the world and takes turns up to a frame. */
async function to(last, options) {
  const world = await openWorld({ store: sqlite(file), models: { main }, agents: [agent], ...options });
  const sessions = Array.from({ length: SESSIONS }, (_, i) => world.session(`talk-${i}`, agent));
  while (world.kernel.head.seq < last) {
    const runs = sessions.map(async (session) => {
      const run = await session.send(`Turn ${turn}: what is word number ${turn * 7}?`, { id: `m${turn++}` });
      await run.result();
    });
    await Promise.all(runs);
  }
  await world.close();
  return world.kernel.head.seq;
}
