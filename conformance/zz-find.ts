import fc from 'fast-check';
import { playWorld } from '/work/main/conformance/tree/worlds/play.js';
import { worldSchedules } from '/work/main/conformance/tree/worlds/schedule.js';
const [from, to] = process.argv.slice(2).map(Number);
for (let seed = from!; seed < to!; seed++) {
  const [schedule] = fc.sample(worldSchedules, { seed, numRuns: 1 });
  try { await playWorld(schedule!); } catch (e) { console.log(seed, (e as Error).constructor.name, (e as Error).message.slice(0, 300)); }
}
console.log('done');
