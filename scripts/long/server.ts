/**
 * A server over HTTP against clients that mean it no good, in the long form:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/server.ts [--aborts 10000] [--minutes 10] [--kib 1024] [--seed N]
 *
 * 1. Requests that are broken off at random moments: after them every place is free.
 * 2. One hostile client with a token and one without, beside two honest clients: all honest requests are answered. Prints
 *    how long they take alone, and beside the hostile ones.
 * 3. 64 bodies at once, in pieces of one byte, to a server in a process with little memory.
 */
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { leaveOften, NOTHING_TAKEN } from '../../packages/server/test/support/aborts.js';
import { honestBesideHostile, type Seen } from '../../packages/server/test/support/hostile.js';
import { sendPieces } from '../../packages/server/test/support/pieces.js';

const REQUESTS = 64;

const { values: options } = parseArgs({
  options: {
    aborts: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '10' },
    kib: { type: 'string', default: '1024' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
  },
});
const [aborts, minutes, kib, seed] = [
  Number(options.aborts),
  Number(options.minutes),
  Number(options.kib),
  Number(options.seed),
];
const wrong: string[] = [];

const { calls, ...left } = await leaveOften(aborts, seed);
if (!isDeepStrictEqual(left, NOTHING_TAKEN)) wrong.push(`places: ${JSON.stringify(left)}`);
console.log(`${aborts} requests broken off, ${calls} calls began: ${JSON.stringify(left)}`);

const { alone, beside, hostile } = await honestBesideHostile(minutes * 60_000, 15, seed);
console.log(`alone:  ${shown(alone)}`);
console.log(`beside: ${shown(beside)}; ${hostile} hostile requests and connections`);
for (const why of [...alone.failed, ...beside.failed].slice(0, 20)) wrong.push(why);

const took = await sendPieces(REQUESTS, kib * 1024 - 1);
console.log(`${REQUESTS} bodies of ${kib} KiB in pieces of one byte: ${JSON.stringify(took)}`);
if (took.mib === undefined || !took.answered) wrong.push('pieces: the server did not survive');

for (const why of wrong) console.error(why);
console.log(`server: ${wrong.length === 0 ? 'ok' : `${wrong.length} wrong`}; seed ${seed}`);
process.exit(wrong.length === 0 ? 0 : 1);

function shown({ answered, failed, median, p99, slowest }: Seen): string {
  return `${answered} answered, ${failed.length} failed; median ${median} ms, p99 ${p99} ms, slowest ${slowest} ms`;
}
