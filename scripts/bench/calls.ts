/**
 * Durable calls of a world in the process that has it beside calls of the same world from another process, turn by turn, in
 * one run on one machine: what the way between two processes costs. A server of its own is started.
 *
 *   node --conditions=@reprise/source --import tsx scripts/bench/calls.ts
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from '../../conformance/bundle.js';
import { Member, openBank } from '../../packages/fleet/test/processes/members.js';
import { startServer } from '../../packages/store-postgres/test/server.js';

/** Callers at once, and the calls of each in a round. */
const SIZES = [
  { callers: 1, calls: 60 },
  { callers: 32, calls: 8 },
];
const ROUNDS = 7;

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-bench-'));
const program = path.join(folder, 'member.mjs');
await bundle(fileURLToPath(new URL('../../packages/fleet/test/processes/member.ts', import.meta.url)), program);
const server = await startServer();
const bank = await openBank();
const start = (): Member =>
  new Member({ program, database: server.url, name: 'bench', secret: 'x'.repeat(32), bank: bank.url, ttl: 10_000 });
const [owner, other] = [start(), start()];
await Promise.all([owner.ready, other.ready]);

let ids = 0;
async function round(by: Member, callers: number, calls: number): Promise<readonly number[]> {
  const waits: number[] = [];
  const caller = async (world: string): Promise<void> => {
    for (let n = 0; n < calls; n++) {
      const said = await by.call(world, 'note', `note ${ids++}`, 60_000);
      if (said === 'gone' || !said.ok) throw new Error(JSON.stringify(said));
      waits.push(said.ms);
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, i) => caller(`w-${i}`)));
  return waits;
}

for (const { callers, calls } of SIZES) {
  await round(owner, callers, 20); // opens the worlds
  await round(other, callers, 20);
  const [here, there]: [number[], number[]] = [[], []];
  for (let n = 0; n < ROUNDS; n++) {
    here.push(...(await round(owner, callers, calls)));
    there.push(...(await round(other, callers, calls)));
  }
  const [own, forwarded] = [here, there].map((waits) => waits.sort((a, b) => a - b));
  const at = (waits: readonly number[] = [], part: number): string =>
    (waits[Math.floor(waits.length * part)] ?? 0).toFixed(2);
  console.info(
    `${callers} callers: own p50 ${at(own, 0.5)} p99 ${at(own, 0.99)} ms, forwarded p50 ${at(forwarded, 0.5)} p99 ${at(forwarded, 0.99)} ms`,
  );
}
for (const { child } of [owner, other]) child.kill('SIGKILL');
bank.close();
await server.stop();
rmSync(folder, { recursive: true, force: true });
