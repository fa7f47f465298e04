/*
 * A world of as many frames as are asked for: ten sessions that take turns, every tenth turn a tool call. It is written
 * to a file and left. Without snapshots in its last part, where that is asked for. A world of more than 20,000 frames has
 * them in bulk in its middle: commands, many to a commit, which are made in a tenth of the time of turns.
 *
 *   node workload.mjs FILE FRAMES [FRAMES WITHOUT A SNAPSHOT AT THE END [CALLS THAT WAIT SINCE THE FIRST FRAMES]]
 */
import { defineAgent, defineTool, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import * as z from 'zod';

const SESSIONS = 10;
/** The frames of turns at either end of a world that has others between. */
const TURNS = 10_000;
/** The commands of one commit. */
const BULK = 500;
const [file, frames, bare = '0', waiting = '0'] = process.argv.slice(2);
const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks a word up.',
  args: z.strictObject({ word: z.string() }),
  run: ({ word }) => `The word ${word} stands in the book.`,
});
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  args: z.strictObject({}),
  approval: 'always',
  run: () => 'Paid.',
});
const agent = defineAgent({
  name: 'talker',
  model: 'main',
  instructions: 'Look words up.',
  tools: [lookUp, pay],
  contextWindow: 2_000,
  compaction: { at: 70, keep: 3 },
});
const main = scriptBy(({ unified, last }) => {
  if (unified.toolChoice === 'none') return { text: `They counted on: ${last.slice(0, 80)}` };
  if (last === 'Pay.') return { calls: [{ tool: 'pay', args: {} }] };
  const turn = Number(/^Turn (\d+)/.exec(last)?.[1]);
  const isCall = unified.messages.at(-1)?.role === 'user' && turn % 10 === 0;
  if (isCall) return { calls: [{ tool: 'look_up', args: { word: last.slice(-30) } }] };
  return { text: `I have found: ${last.slice(0, 200)}`, usage: { tokens_in: 500, tokens_out: 50 } };
});

let turn = 0;
const [all, kept] = [Number(frames), Number(frames) - Number(bare)];
if (Number(waiting) > 0) await inWorld({}, wait);
if (all > 2 * TURNS) {
  await inWorld({}, (world) => turns(world, Math.min(TURNS, kept)));
  await inWorld({}, (world) => bulk(world, Math.min(all - TURNS, kept)));
}
await inWorld({}, (world) => turns(world, Math.min(kept, all - TURNS)));
if (Number(bare) > 0 && all > 2 * TURNS) await inWorld({ snapshotEvery: 0 }, (world) => bulk(world, all - TURNS));
const taken = await inWorld(Number(bare) > 0 ? { snapshotEvery: 0 } : {}, (world) => turns(world, all));
if (Number(waiting) > 0) await inWorld({}, decide);
console.log(JSON.stringify({ frames: taken }));

/** Opens the world for a part of its story. @returns its last frame */
async function inWorld(options, body) {
  const world = await openWorld({ store: sqlite(file), models: { main }, agents: [agent], ...options });
  await body(world);
  await world.close();
  return world.kernel.head.seq;
}

/** Takes turns up to a frame. */
async function turns(world, last) {
  const sessions = Array.from({ length: SESSIONS }, (_, i) => world.session(`talk-${i}`, agent));
  while (world.kernel.head.seq < last) {
    const runs = sessions.map(async (session) => {
      const run = await session.send(`Turn ${turn}: what is word number ${turn * 7}?`, { id: `m${turn++}` });
      await run.result();
    });
    await Promise.all(runs);
  }
}

/** Commands in bulk, up to a frame. */
async function bulk(world, last) {
  while (world.kernel.head.seq < last) {
    const commands = Array.from({ length: Math.min(BULK, last - world.kernel.head.seq) }, (_, i) =>
      world.kernel.command('sys/SetRights@1', { holder: `human:h${i % SESSIONS}`, approved: [] }),
    );
    await Promise.all(commands);
  }
}

/** Begins calls that wait for a person. */
async function wait(world) {
  for (let n = 0; n < Number(waiting); n += SESSIONS) {
    const sent = Array.from({ length: SESSIONS }, (_, i) => world.session(`wait-${n + i}`, agent).send('Pay.'));
    await Promise.all(sent);
  }
  let pending = 0;
  while (pending < Number(waiting)) pending = (await world.pending()).length;
}

/** Decides about the oldest of them. */
async function decide(world) {
  for (const item of (await world.pending()).slice(0, SESSIONS)) await world.decide(item, { approve: true });
}
