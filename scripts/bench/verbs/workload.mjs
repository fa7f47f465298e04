/*
 * A world of as many frames as are asked for: ten sessions that take turns, every tenth turn a tool call, and a summary
 * when a conversation is long. It is written to a file and left; a file that is there is gone on with.
 *
 *   node workload.mjs FILE FRAMES any|settled|bare
 *
 * `settled`: a few frames more, so that the newest snapshot is as far back as it usually is at most. `bare`: no snapshot in
 * what is added.
 */
import { defineAgent, defineTool, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';

const SESSIONS = 10;
/** An open world of agents writes a snapshot every 1,000 frames. */
const BEHIND = 900;
const [file, frames, kind] = process.argv.slice(2);
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
  // What is reported says when a summary is due: without one, each call would send the whole conversation.
  const usage = { tokens_in: 40 * unified.messages.length, tokens_out: 50 };
  return { text: `I have found: ${last.slice(0, 200)}`, usage };
});

const world = await openWorld({
  ...{ store: sqlite(file), models: { main }, agents: [agent] },
  ...(kind === 'bare' ? { snapshotEvery: 0 } : {}),
});
const sessions = Array.from({ length: SESSIONS }, (_, i) => world.session(`talk-${i}`, agent));
// A turn has more than one frame, so this number is free, also in a file that is gone on with.
let turn = world.kernel.head.seq + 1;
while (world.kernel.head.seq < Number(frames) || (kind === 'settled' && (await behind()) < BEHIND)) {
  const runs = sessions.map(async (session) => {
    const run = await session.send(`Turn ${turn}: what is word number ${turn * 7}?`, { id: `m${turn++}` });
    await run.result();
  });
  await Promise.all(runs);
}
await world.close();

/** The frames behind the newest snapshot. */
async function behind() {
  const store = await sqlite(file).openReadonly();
  const { seq } = await store.journal.head();
  const snapshot = await store.journal.findLast('snapshot', seq);
  await store.close();
  return seq - (snapshot?.seq ?? -1);
}
