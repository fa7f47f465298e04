/** `reprise trouble` and `reprise revive`. */
import { fileURLToPath } from 'node:url';
import { isBelow } from '@reprise/agent';
import { openKernelWorld, verifyStore } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failedCells } from '../src/failed-cells.js';
import { app } from './apps/fragile.js';
import { run, runOn } from './run.js';
import { freshFolder } from './worlds.js';

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
