/*
 * Conversations of ten turns in a process that has already led many: one after another, or some at a time. It runs
 * bundled with the sources of a commit, in a process of its own, and prints one line of JSON.
 */
import { openWorld } from 'reprise';
import { bareLoop, clerk, cpuOf, models, store, takeTurn, task } from '../turns/clerk.mjs';

const { atOnce, turns, warmup, length } = task;
await using world = await openWorld({ store: store(), models, agents: [clerk] });
let sessions = 0;

await talk(warmup);
const before = sessions;
const cpu = await cpuOf(() => talk(turns));
const live = cpu / ((sessions - before) * length);
console.log(JSON.stringify({ live, loopFloor: await bareLoop(100) }));

/** Leads conversations of at least so many turns in all. */
async function talk(turns) {
  for (const end = sessions + turns / length; sessions < end; )
    await Promise.all(Array.from({ length: atOnce }, () => converse(sessions++)));
}

async function converse(session) {
  for (let turn = 0; turn < length; turn++) await takeTurn(world, session, turn);
}
