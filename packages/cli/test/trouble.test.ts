/** `reprise trouble` and `reprise revive`. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isBelow } from '@reprise/agent';
import { openKernelWorld, verifyStore } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { program } from '../../../scripts/lib/program.js';
import { failedCells, partTroubles } from '../src/world/failed-cells.js';
import { app } from './apps/fragile.js';
import { ended, run, runOn, start, startProgram } from './run.js';
import { freshFolder } from './worlds.js';

const CHATTER = await program(new URL('apps/chatter.ts', import.meta.url));
const folder = freshFolder();
const path = folder.file('fragile.db');
const APP = ['--app', fileURLToPath(new URL('apps/fragile.ts', import.meta.url))];
const CELL = 'demo/Fragile@1/a';
const HOLD = { may: { effect: ['shop/*'] } };

beforeAll(async () => {
  await using world = await openKernelWorld({ store: sqlite(path), app });
  const send = (to: string, by: number) => world.request(['demo/Fragile@1', to], { name: 'demo/Add@1', value: { by } });
  await send('a', 4);
  await world.request(['demo/Fragile@1', 'b'], { name: 'demo/Tell@1', value: { to: 'a', by: -1 } });
  await world.command('sys/SetRights@1', { holder: `cell:${CELL}`, hold: HOLD });
});
afterAll(() => folder.remove());

describe('reprise trouble and reprise revive', () => {
  it('reprise trouble lists a failed cell with its fault, and ends with 1 [RED-39]', async () => {
    const { code, out, err } = await run('trouble', path, ...APP);
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toContain(`${CELL} has failed: threw on demo/Add@1, in frame 2, `);
    const { trouble } = JSON.parse((await run('trouble', path, '--json', ...APP)).out);
    expect(trouble).toMatchObject([{ kind: 'cell_failed', where: CELL, code: 'threw', frame: 2, waiting: 0 }]);
  });

  it('reprise trouble --follow prints the list when it begins, and again when the process that has the world open is killed', async () => {
    const live = folder.file('live.db');
    const writer = startProgram(folder.path, CHATTER, live);
    await once(writer.stdout!, 'data');
    const follower = start(folder.path, 'trouble', 'live.db', '--follow', '--json');
    const end = ended(follower);
    let [first] = await once(follower.stdout!, 'data');
    expect(JSON.parse(String(first).split('\n')[0] ?? '')).toMatchObject({ trouble: [] });
    writer.kill('SIGKILL');
    while (!String(first).includes('process_died')) [first] = await once(follower.stdout!, 'data');
    follower.kill('SIGINT');
    const { code, out, err } = await end;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out.split('\n').slice(0, -1);
    expect(new Set(lines).size).toBe(lines.length);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ trouble: [{ kind: 'process_died' }] });
  });

  it('what is shown of a tree or a project names its failed cells, the fault, and the command that revives them [RED-39]', async () => {
    const store = await sqlite(path).openReadonly();
    const { seq } = await store.journal.head();
    const asked = { world: path, seq, app: APP[1] as string };
    const [found, ...more] = (await failedCells(store, { ...asked, isMeant: isBelow(['a']) })) ?? [];
    expect(more).toEqual([]);
    expect(found?.data).toMatchObject({
      where: CELL,
      code: 'threw',
      frame: 2,
      revive: `reprise revive ${path} '${CELL}'`,
    });
    expect(found?.line).toContain(`${CELL} has failed: threw on demo/Add@1`);
    expect(await failedCells(store, { ...asked, isMeant: isBelow(['b']) })).toEqual([]);
    expect(await failedCells(store, { world: path, seq, isMeant: () => true })).toBeUndefined();
    expect(
      [
        ['demo/X@1', 'a/j1'],
        ['demo/X@1', 'a~2'],
        ['demo/X@1', 'ab'],
      ].map((one) => isBelow(['a'])(one as [string, string])),
    ).toEqual([true, true, false]);
    await store.close();
  });

  it('reprise revive shows the fault and the state before it, and changes nothing without --yes where nobody can be asked', async () => {
    for (const columns of [undefined, 80]) {
      const { code, out, err } = await runOn(columns, 'revive', path, CELL, ...APP);
      expect([code, err]).toEqual([2, expect.stringMatching(/^invalid_argument: nobody can be asked/)]);
      expect(out).toContain('"total": 4');
      expect(out).toContain(`${CELL} has failed: threw`);
    }
    expect((await run('trouble', path, ...APP)).code).toBe(1);
  });

  it('reprise revive shows what holds the failed cell, and who set it', async () => {
    const { out } = await run('revive', path, CELL, ...APP);
    expect(out).toContain(`holds on it, which stay\n  by operator: {"may":{"effect":["shop/*"]}}\n`);
  });

  it('reprise revive refuses a cell that has not failed, and an app that would begin another era', async () => {
    const healthy = await run('revive', path, 'demo/Fragile@1/b', '--yes', ...APP);
    expect([healthy.code, healthy.err]).toEqual([2, expect.stringContaining('demo/Fragile@1/b has not failed')]);
    expect((await run('revive', path, CELL, '--yes')).code).toBe(2);
  });

  it('reprise revive brings the cell back with its state before the fault; the world works on and verifies [RED-10]', async () => {
    const { code, out, err } = await run('revive', path, CELL, '--yes', '--as', 'human:ann', ...APP);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/revived in frame \d+\nhead sha256:/);
    expect((await run('trouble', path, ...APP)).out).toContain('no trouble');
    await using world = await openKernelWorld({ store: sqlite(path), app });
    await world.request(['demo/Fragile@1', 'a'], { name: 'demo/Add@1', value: { by: 1 } });
    expect(await world.state(['demo/Fragile@1', 'a'])).toEqual({ total: 5 });
    await verifyStore(await sqlite(path).openReadonly(), { app });
  });
});

/** A post of the process that has a world open, as JSON. */
const POSTED = [
  { kind: 'store_full', where: 'other.db', code: 'store_full', since: 1_700_000_000_000, waiting: 3 },
  {
    kind: 'service_failing',
    where: 'models.example',
    code: 'provider_error_terminal/auth',
    since: 1_700_000_000_000,
    waiting: 1,
    cells: [['aos.agent/SessionReducer@1', 'survey/1']],
    error: { name: 'ProviderError', message: 'Incorrect \u001b[2J key', server: 'models.example', status: 401 },
  },
];

describe('what another process posts', () => {
  it('reprise trouble lists it, with code, words and next step, beside the failed cells, and ends with 1 [JRN-41]', async () => {
    const open = await sqlite(path).open();
    await open.post?.(JSON.stringify(POSTED));
    try {
      const { code, out, err } = await run('trouble', path, ...APP);
      expect({ code, err }).toEqual({ code: 1, err: '' });
      expect(out).toContain(
        'other.db, since 2023-11-14T22:13:20.000Z; 3 wait for it: the store is full [store_full]. Free',
      );
      expect(out).toContain('(models.example, status 401) [provider_error_terminal/auth]. Check the API key');
      expect(out).not.toContain('\u001b');
      const json = JSON.parse((await run('trouble', path, '--json', ...APP)).out);
      expect(json).toMatchObject({
        trouble: [
          { kind: 'store_full', waiting: 3 },
          { kind: 'service_failing', cells: ['aos.agent/SessionReducer@1/survey/1'] },
        ],
        complete: true,
      });
      const [human, machine] = [await run('tail', path, '-n', '1'), await run('tail', path, '-n', '1', '--json')];
      for (const tail of [human, machine]) expect(tail.err).toMatch(/^trouble: other\.db, since .*\[store_full\]/);
      for (const line of machine.out.trimEnd().split('\n')) JSON.parse(line);
    } finally {
      await open.close();
    }
    expect((await run('tail', path, '-n', '1')).err).toBe('');
  });

  it('reprise trouble needs no app for a world in which no cell has failed [JRN-41]', async () => {
    expect(await run('trouble', path)).toMatchObject({ code: 0, out: expect.stringContaining('no trouble') });
    const open = await sqlite(path).open();
    await open.post?.(JSON.stringify(POSTED));
    try {
      const { code, out } = await run('trouble', path);
      expect([code, out]).toEqual([1, expect.stringContaining('the store is full')]);
      const json = JSON.parse((await run('trouble', path, '--json')).out);
      expect([json.trouble.length, json.complete]).toEqual([2, true]);
    } finally {
      await open.close();
    }
  });

  it('reprise trouble lists failed cells also where the app is not at hand, and says what is not known without it', async () => {
    const other = folder.file('failed.db');
    const world = await openKernelWorld({ store: sqlite(other), app });
    await world.request(['demo/Fragile@1', 'a'], { name: 'demo/Add@1', value: { by: 4 } });
    await world.request(['demo/Fragile@1', 'b'], { name: 'demo/Tell@1', value: { to: 'a', by: -1 } });
    await world.close();
    const { code, out } = await run('trouble', other);
    expect(code).toBe(1);
    expect(out).toMatch(/^demo\/Fragile@1\/a has failed: threw[^\n]*, in frame 2, /);
    expect(out).toContain('--app MODULE');
    const json = JSON.parse((await run('trouble', other, '--json')).out);
    expect([json.complete, json.trouble]).toEqual([false, [expect.objectContaining({ where: CELL, frame: 2 })]]);
  });

  it('a tree or a project is marked as stalled by the store, and by services that its own sessions wait for [SES-38]', async () => {
    const open = await sqlite(path).open();
    await open.post?.(JSON.stringify(POSTED));
    const store = await sqlite(path).openReadonly();
    try {
      const asked = { world: path, seq: 0, app: APP[1] as string };
      const marks = async (name: string, past = false) => {
        const { json, lines } = await partTroubles(store, { ...asked, isMeant: isBelow([name]), past });
        return [json.stalled.map((one) => (one as { kind: string }).kind), lines.length];
      };
      expect(await marks('survey')).toEqual([['store_full', 'service_failing'], 2]);
      expect(await marks('survey/1')).toEqual([['store_full', 'service_failing'], 2]);
      expect(await marks('sur')).toEqual([['store_full'], 1]);
      expect(await marks('survey', true)).toEqual([[], 0]);
    } finally {
      await Promise.all([store.close(), open.close()]);
    }
  });
});
