/** How long callers wait while the process with their worlds ends: told to, or without a word. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../../../conformance/bundle.js';
import { describePostgres } from '../../../store-postgres/test/describe-postgres.js';
import { Member, openBank } from './members.js';

const TTL_MS = 3_000;
const WORLDS = 8;

describePostgres('callers of a process that ends', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-fleet-'));
  const program = path.join(folder, 'member.mjs');
  const members: Member[] = [];
  let bank: Awaited<ReturnType<typeof openBank>>;
  beforeAll(async () => {
    await bundle(fileURLToPath(new URL('member.ts', import.meta.url)), program);
    bank = await openBank();
  });
  afterAll(() => {
    for (const { child } of members) child.kill('SIGKILL');
    bank.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (name: string): Member => {
    const secret = 'a secret of the tests, long enough';
    const member = new Member({ program, database: own.url, name, secret, bank: bank.url, ttl: TTL_MS });
    members.push(member);
    return member;
  };

  /** Calls every world of one process from another one without a pause, ends the first, and returns the waits. */
  async function during(end: (owner: Member) => Promise<void>) {
    const name = own.fresh();
    const [owner, caller] = [start(name), start(name)];
    await Promise.all([owner.ready, caller.ready]);
    const worlds = Array.from({ length: WORLDS }, (_, n) => `shop-${n}`);
    for (const world of worlds) await owner.call(world, 'asked', `first ${world}`, 30_000);
    let isEnding = false;
    const [waits, wrong, by]: [number[], unknown[], Set<number>] = [[], [], new Set()];
    const loops = worlds.map(async (world) => {
      for (let n = 0; ; n++) {
        const wasEnding = isEnding;
        const said = await caller.call(world, 'asked', `${world} ${n}`, 60_000);
        if (said === 'gone' || !said.ok) return void wrong.push(said);
        waits.push(said.ms);
        by.add(Number(said.said));
        if (wasEnding && said.said === caller.child.pid) return;
      }
    });
    await expect.poll(() => waits.length).toBeGreaterThan(3 * WORLDS);
    isEnding = true;
    await end(owner);
    await Promise.all(loops);
    expect([wrong, by.size]).toEqual([[], 2]);
    caller.child.kill('SIGKILL');
    return { longest: Math.max(...waits), calls: waits.length };
  }

  it('a process that is told to end has released its worlds long before its lease is over, and no caller sees an error', async () => {
    const { longest, calls } = await during(async ({ child, ended }) => {
      child.kill('SIGTERM');
      await ended;
    });
    console.info(`SIGTERM: ${calls} calls of ${WORLDS} worlds, longest ${longest.toFixed(0)} ms, lease ${TTL_MS} ms`);
    expect(longest).toBeLessThan(TTL_MS / 2);
  });

  it('a process that dies on another machine keeps its worlds until its lease is over, and no caller sees an error', async () => {
    const { longest, calls } = await during(async ({ child, ready }) => {
      const client = new pg.Client({ connectionString: own.url });
      await client.connect();
      await client.query("UPDATE reprise.host SET process = 'elsewhere' WHERE address = $1", [await ready]);
      await client.end();
      child.kill('SIGKILL');
    });
    console.info(`kill -9: ${calls} calls of ${WORLDS} worlds, longest ${longest.toFixed(0)} ms, lease ${TTL_MS} ms`);
    expect(longest).toBeGreaterThan(TTL_MS / 2);
  });
});
