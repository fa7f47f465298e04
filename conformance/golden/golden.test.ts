import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Value } from '@reprise/contracts';
import { memory } from '@reprise/kernel';
import { seededRandom, VirtualClock } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { readGolden } from './check.js';
import { accountOf, counterWorld } from './counter-world.js';
import { GOLDEN_WORLDS, type Golden, type Outcome, perform, pinned } from './worlds.js';

const CHECK = fileURLToPath(new URL('check.ts', import.meta.url));
const REGENERATE = `if the change is meant: npx tsx --conditions=@reprise/source ${path.relative(process.cwd(), CHECK)} --write`;

const outcomes = new Map<string, Promise<Outcome>>();

function outcomeOf(name: string): Promise<Outcome> {
  const world = GOLDEN_WORLDS.find((one) => one.name === name);
  if (world === undefined) throw new Error(`no golden world ${name}`);
  const known = outcomes.get(name) ?? perform(world);
  outcomes.set(name, known);
  return known;
}

describe('golden worlds', () => {
  it.each(GOLDEN_WORLDS.map(({ name }) => name))('%s: its head and states are the pinned ones', async (name) => {
    expect(pinned(await outcomeOf(name)), REGENERATE).toEqual(readGolden(name));
  });

  it('in another time zone and language the same', async () => {
    const env = { ...process.env, TZ: 'Pacific/Apia', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };
    const elsewhere = JSON.parse(await print(env)) as Record<string, Golden>;
    for (const { name } of GOLDEN_WORLDS) expect(elsewhere[name], name).toEqual(readGolden(name));
  });

  it('a world that differs in anything has another head', async () => {
    const golden = readGolden('counter');
    const heads = new Set([golden.head]);
    const store = memory();
    const clock = new VirtualClock({ wall: Date.UTC(2026, 0, 1) + 1 });
    await counterWorld.run({ store, clock, random: seededRandom('golden counter') }, async () => undefined);
    heads.add((await (await store.openReadonly()).journal.head()).digest);
    const other = await perform({ ...counterWorld, name: 'another' });
    heads.add(other.head);
    expect(heads.size).toBe(3);
  });
});

/** Runs the check in a process of its own. */
function print(env: NodeJS.ProcessEnv): Promise<string> {
  const tsx = createRequire(import.meta.url).resolve('tsx/cli');
  const child = spawn(process.execPath, [tsx, '--conditions=@reprise/source', CHECK, '--json'], { env });
  let out = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`exit ${code}: ${errors.slice(0, 2_000)}`)),
    );
  });
}

describe('what the golden worlds mean', () => {
  it('accounts: what was paid, moved, refused, earned and kept through a fault is what arithmetic says', async () => {
    const { values, logs } = await outcomeOf('counter');
    const paid = (70 * 71) / 2;
    const moved = Array.from({ length: 70 }, (_, i) => i + 1);
    expect(values[accountOf('a')]).toMatchObject({
      balance: paid - 300 - 2_000 + 1_000 + 4, // four times interest in 270 seconds
      answers: ['golden/Paid@1 accepted ', 'golden/Paid@1 rejected too_much'],
      odd: { zz: 0, 10: 1 / 7, 9: 2 / 7, é: 4 / 7, minus: 0, large: 2 ** 53 },
      bonus: 1,
    });
    expect(logs[`${accountOf('a')} moves`]).toEqual([...moved, 'to b', 'to c', 1_000]);
    // Overdrawn, so its interest failed it; revived, it has the balance it failed with and no timer.
    expect(values[accountOf('b')]).toMatchObject({ balance: 300 + 2 - 1_000 });
    // Ended and opened again: a new incarnation with a new identifier, from nothing.
    expect(values[accountOf('c')]).toMatchObject({ balance: 1 });
    const ids = Object.values(values).flatMap((account) => (account as { ids: string[] }).ids);
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });

  it('plans: every way to wait came to what it should', async () => {
    const { values } = await outcomeOf('plans');
    const heard: Record<string, { what?: Value }[]> = Object.fromEntries(
      Object.entries(values).map(([cell, state]) => [
        cell.split('/').at(-1),
        (state as { heard: { what?: Value }[] }).heard,
      ]),
    );
    const told = (part: string) => heard[part]?.map((one) => one.what);
    expect(told('any')).toEqual([[1, 'ok'], 'late', 'ok']);
    expect(told('queue')).toEqual(['ok', [1, 'ok'], [1, 'ok']]);
    expect(told('all')).toEqual([['ok', 'ok', 'denied']]);
    expect(told('retry')).toEqual(['ok']);
    expect(told('peek')).toEqual([[{ heard: [] }, null, Date.UTC(2026, 0, 1)]]);
    expect(told('cancel')).toEqual(['cancelled']);
    expect(told('crash')).toEqual(['outcome_unknown']);
    expect(told('timeout')).toEqual(['timeout']);
    expect(told('again')).toEqual([2, 1, 0]);
    expect(heard.nonsense).toMatchObject([{ code: 'threw' }]);
    expect(told('stopped')).toEqual([[1, 'ok']]);
  });

  it('a session: two runs and a limit, no call without its result', async () => {
    const { values, logs } = await outcomeOf('session');
    const [state] = Object.values(values) as { runs: number; last: object; calls: Value[]; run: null }[];
    expect(state).toMatchObject({
      runs: 3,
      run: null,
      calls: [],
      last: { run: 2, stop: { kind: 'LimitsExceeded', limit: 'max_steps' } },
    });
    const transcript = Object.values(logs)[0] as { role: string; calls?: { call_id: string }[]; call_id?: string }[];
    const asked = transcript.flatMap(({ calls }) => calls?.map(({ call_id }) => call_id) ?? []);
    const answered = transcript.filter(({ role }) => role === 'tool').map(({ call_id }) => call_id);
    expect(answered).toEqual(asked);
    expect(asked).toEqual(['call-2', 'call-1', 'call-2', 'call-3', 'call-4']);
    expect(transcript.filter(({ role }) => role === 'user')).toHaveLength(3);
  });
});
