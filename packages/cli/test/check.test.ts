import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import app from './apps/app.js';
import { ledgerApp } from './apps/ledger.js';
import { app as two } from './apps/ledger-2.js';
import { run } from './run.js';
import { add, freshFolder, LEDGER, makeLedger, tamper } from './worlds.js';

const appAt = (name: string) => fileURLToPath(new URL(`apps/${name}.ts`, import.meta.url));
const [ONE, TWO, ALONE, BROKEN, NOTHING, CHANGED] = [
  appAt('app'),
  appAt('ledger-2'),
  appAt('ledger-2-alone'),
  appAt('ledger-2-broken'),
  appAt('nothing'),
  appAt('changed-sum'),
] as const;

const folder = freshFolder();
const world = folder.file('ledger.db');
const upgraded = folder.file('upgraded.db');

beforeAll(async () => {
  await makeLedger(world);
  await makeLedger(upgraded);
  await using open = await openKernelWorld({ store: sqlite(upgraded), app: two });
  await add(open, 10);
});
afterAll(() => folder.remove());

const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out);

describe('reprise check --against', () => {
  it('reprise check --against reports that the era continues, given the app that wrote the world', async () => {
    const { code, out } = await run('check', world, '--against', ONE);
    expect([code, out]).toEqual([
      0,
      `${world} with ${ONE}: opens, and the era from frame 0 continues\nnothing was written\n`,
    ]);
  });

  it('reprise check --against lists what a version migrates, and writes nothing [RPL-20]', async () => {
    const before = readFileSync(world);
    const { code, out } = await run('check', world, '--against', TWO);
    expect(code).toBe(0);
    expect(out).toContain('opens, and a new era begins after frame 5\n');
    expect(out).toContain('new: demo/Ledger@2\ngone: demo/Ledger@1\n');
    expect(out).toContain('migrates to demo/Ledger@2: 1 cell, each at its next event\n');
    expect(readFileSync(world).equals(before)).toBe(true);
    expect(await json('check', world, '--against', TWO)).toMatchObject({
      ok: true,
      verdict: 'new_era',
      era: 0,
      seq: 5,
      change: { migrates: [{ reducer: 'demo/Ledger@2', cells: 1 }], inFlight: [] },
      unmigrated: { cells: 0 },
      error: null,
    });
  });

  it('reprise check --against names the cell and the reason when a migration fails', async () => {
    const { code, out } = await run('check', world, '--against', BROKEN);
    expect(code).toBe(1);
    expect(out).toContain('does NOT migrate: 1 cell, whose next event would fault\n  demo/Ledger@1/a: the state that');
    expect(out).toContain('$.total: expected');
  });

  it.each([
    ['an app without the reducer', NOTHING, 'manifest_mismatch'],
    ['a later version alone', ALONE, 'manifest_mismatch'],
    ['changed code', CHANGED, 'replay_divergence'],
  ])('reprise check --against reports why the world would not open, given %s', async (_, module, error) => {
    const { code, out } = await run('check', world, '--against', module);
    expect(code).toBe(1);
    expect(out).toContain('does NOT open\nnothing was written\n');
    expect(out).toContain(`${error}: `);
    expect(await json('check', world, '--against', module)).toMatchObject({
      ok: false,
      verdict: 'refused',
      error: { code: error, page: `npx reprise explain ${error}` },
    });
  });

  it('reprise check --against holds a changed event schema against the recorded events, and names what does not fit [RPL-30]', async () => {
    const { code, out } = await run('check', world, '--against', appAt('ledger-widened'));
    expect(code).toBe(0);
    expect(out).toContain('changed, and the era replays to the same bytes: demo/Ledger@1\n');
    expect(out).toContain('event demo/Added@1 of demo/Ledger@1 changed: 4 recorded events fit\n');
    expect(out).toContain('event demo/Noted@1 of demo/Ledger@1 changed: 1 recorded event fits\n');
    const narrow = await run('check', world, '--against', appAt('ledger-narrowed'));
    expect(narrow.code).toBe(1);
    expect(narrow.out).toContain('does NOT open\nnothing was written\n');
    expect(narrow.out).toContain(
      'era_incompatible: demo/Ledger@1 changed under the same name, and a recorded demo/Added@1 does not fit it\n',
    );
    expect(narrow.out).toContain('  where       frame 4, record 0 (request), $.event.value.by\n');
  });

  it.each([
    ['an object', "{ code: 'no_luck' }", '{"code":"no_luck"}'],
    ['an object with a message', "{ message: 'no luck' }", 'Error: no luck'],
    ['a text', "'no luck'", 'no luck'],
    ['a symbol', "Symbol('no luck')", 'Symbol(no luck)'],
  ])('reprise check shows what a reducer threw when it throws %s', async (what, thrown, shown) => {
    const path = folder.file(`throws-${what.replaceAll(' ', '-')}.ts`);
    const ledger = fileURLToPath(new URL('apps/ledger.ts', import.meta.url));
    const source = `import { ledgerApp } from '${ledger}';\nexport const app = ledgerApp({ sum: () => { throw ${thrown}; } });\n`;
    writeFileSync(path, source);
    const { code, out } = await run('check', world, '--against', path);
    expect(code).toBe(1);
    expect(out).toContain(`cannot be replayed: ${shown}`);
    expect(out).not.toContain('[object');
  });

  it('reprise check --against accepts a later version alone when the earlier app is given too', async () => {
    expect((await run('check', world, '--against', ALONE, '--legacy', ONE)).code).toBe(0);
  });

  it('reprise check --against notes a writer that holds the world, and refuses a damaged world', async () => {
    const path = folder.file('held.db');
    await makeLedger(path);
    {
      await using _held = await openKernelWorld({ store: sqlite(path), app });
      expect((await run('check', path, '--against', TWO)).code).toBe(0);
    }
    tamper(path, 'UPDATE frame SET bytes = zeroblob(length(bytes)) WHERE seq = 4');
    const { code, err } = await run('check', path, '--against', TWO);
    expect([code, err]).toEqual([1, expect.stringContaining('journal_damaged')]);
  });

  it('reprise check --against reports wrong use when the app is missing or the module has no app', async () => {
    expect((await run('check', world)).code).toBe(2);
    expect((await run('check', world, '--against', 'nowhere.js')).code).toBe(2);
  });
});

describe('reprise verify of two eras', () => {
  it('reprise verify replays both eras when both apps are given', async () => {
    const { code, out } = await run('verify', upgraded, '--app', ALONE, '--legacy', ONE);
    expect(code).toBe(0);
    expect(out).toContain('replayed 9, unverified 0\nera 0 to 6: replayed\nera 7 to 8: replayed\n');
    expect((await run('verify', upgraded, '--app', TWO)).code).toBe(0);
  });

  it('reprise verify with an app that leaves an era unverified prints which, and is a finding unless asked [RPL-32]', async () => {
    const { code, out, err } = await run('verify', upgraded, '--app', ALONE);
    expect(code).toBe(1);
    expect(out).toContain('intact; partly replayed, identical');
    expect(out).toContain('NOT checked: whether they do in unverified eras');
    expect(out).toContain('replayed 2, unverified 7\nera 0 to 6: unverified\nera 7 to 8: replayed\n');
    expect(err).toContain('era_unverified: ');
    expect(err).toContain('frames 0 to 6');
    expect(await run('verify', upgraded, '--app', ALONE, '--integrity')).toMatchObject({ code: 0, out, err: '' });
    expect(await json('verify', upgraded, '--app', ALONE)).toMatchObject({
      replayed: 2,
      unverified: 7,
      eras: [
        { from: 0, to: 6, status: 'unverified' },
        { from: 7, to: 8, status: 'replayed' },
      ],
    });
    expect((await run('verify', upgraded)).code).toBe(1);
  });

  it('reprise verify shows a cell under either name, and an old frame with the app of its time', async () => {
    const state = async (...args: string[]) => (await json('show', upgraded, ...args)).state;
    expect(await state('demo/Ledger@2/a', '--app', TWO)).toEqual({ total: 20, entries: 1 });
    expect(await state(LEDGER.join('/'), '--app', TWO, '--at', '4')).toMatchObject({ total: 10, note: '' });
    const unverified = await run('show', upgraded, 'demo/Ledger@2/a', '--app', ALONE, '--at', '4');
    expect([unverified.code, unverified.err]).toEqual([1, expect.stringContaining('era_unverified')]);
    const then = ['--app', ALONE, '--legacy', ONE, '--at', '4'];
    expect(await state('demo/Ledger@2/a', ...then)).toMatchObject({ total: 10, note: '' });
    expect([...ledgerApp().reducers.keys()]).toEqual(['demo/Ledger@1']);
  });
});
