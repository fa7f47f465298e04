/** The owner of a world is killed again and again, before, while and after its deliveries are posted; its receivers stay. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { randomFrom } from '../../../../conformance/random.js';
import { program } from '../../../../scripts/lib/program.js';
import { Receiver } from '../support/receiver.js';
import { newSecret } from '../support/world.js';

const SEED = Number(process.env.REPRISE_SEED ?? 1);
const KILLS = 60 / stepOf(10);
const SESSIONS = 30;

const secret = newSecret();
const folder = mkdtempSync(path.join(tmpdir(), 'reprise-hooks-kill-'));
const file = path.join(folder, 'hooks.world');
let owner = '';
let receivers: readonly [Receiver, Receiver];

beforeAll(async () => {
  owner = await program(new URL('owner.ts', import.meta.url));
  receivers = await Promise.all([Receiver.listen(secret), Receiver.listen(secret)]);
});
afterAll(async () => {
  await Promise.all(receivers.map((one) => one.close()));
  rmSync(folder, { recursive: true });
});

/** Runs an owner until its receivers were sent so many more requests, or to the end. @returns what it said last */
function own(requests: number): Promise<string> {
  const argv = [owner, file, String(SESSIONS), secret, ...receivers.map(({ url }) => url)];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (piece) => {
    out += String(piece);
  });
  const from = receivers.reduce((sum, { received }) => sum + received.length, 0);
  for (const one of receivers)
    one.mood = () => {
      const all = receivers.reduce((sum, { received }) => sum + received.length, 0);
      if (all - from < requests) return 'takes';
      child.kill('SIGKILL');
      return 'takes and cuts'; // it has taken a delivery of which the owner never hears
    };
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(out.trim().split('\n').at(-1) ?? ''));
  });
}

describe(`deliveries of a world whose owner is killed ${KILLS} times (seed ${SEED})`, () => {
  it('each delivery reaches both receivers at least once, with one id and one body and a valid signature in each attempt, and the journal verifies [HOOK-2, HOOK-3]', async () => {
    const random = randomFrom(SEED);
    for (let kill = 0; kill < KILLS; kill++) await own(Math.floor(random() * 8));
    expect(await own(Number.POSITIVE_INFINITY)).toBe('verified');
    for (const { received, taken } of receivers) {
      expect(received.filter(({ isSigned }) => !isSigned)).toEqual([]);
      const bodies = new Map(received.map(({ id, body }) => [id, body]));
      expect(received.filter(({ id, body }) => bodies.get(id) !== body)).toEqual([]);
      expect(bodies.size).toBe(SESSIONS);
      expect(taken.size).toBe(SESSIONS);
      const sessions = [...bodies.values()].map(
        (body) => (JSON.parse(body) as { data: { session_id: string } }).data.session_id,
      );
      expect(new Set(sessions)).toEqual(new Set(Array.from({ length: SESSIONS }, (_, i) => `s${i}`)));
    }
  });
});
