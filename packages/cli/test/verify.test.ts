import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import app from './apps/app.js';
import { command, run } from './run.js';
import { add, freshFolder, type Ledger, makeAgentWorld, makeLedger, tamper } from './worlds.js';

const APP = fileURLToPath(new URL('apps/app.ts', import.meta.url));
const CHANGED = fileURLToPath(new URL('apps/changed-sum.ts', import.meta.url));
const CHANGED_QUIETLY = fileURLToPath(new URL('apps/changed-note.ts', import.meta.url));
const APPS = fileURLToPath(new URL('apps', import.meta.url));

const folder = freshFolder();
const world = folder.file('ledger.db');
let ledger: Ledger;

beforeAll(async () => {
  ledger = await makeLedger(world);
});
afterAll(() => folder.remove());

/** A copy of the world, to be damaged. */
function copy(name: string): string {
  const path = folder.file(name);
  copyFileSync(world, path);
  return path;
}

describe('reprise verify', () => {
  it('reprise verify replays every frame with an app given by a relative path [RPL-1]', async () => {
    const { code, out, err } = await command(APPS, 'verify', world, '--app', 'app.ts', '--expect', ledger.heads[0]!);
    expect(err).toBe('');
    expect(code).toBe(0);
    expect(out).toContain('replayed, identical');
    expect(out).toContain('replayed with app.ts');
    expect(out).toContain('the expected head is in the journal');
    expect(out).toContain('replayed 6, unverified 0\n6 frames, 16 records, 3 blobs\n');
    expect(out.endsWith(`head sha256:${ledger.heads.at(-1)}\n`)).toBe(true);
  });

  it('reprise verify that replayed nothing is no success, unless it was asked for the integrity alone [RPL-32]', async () => {
    const bare = await command(folder.path, 'verify', 'ledger.db');
    expect(bare.code).toBe(1);
    expect(bare.err).toContain('era_unverified: no app at hand can replay some of the frames\n');
    expect(bare.err).toContain('  where       frames 0 to 5\n');
    const json = await run('verify', world, '--json');
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({
      ok: false,
      error: { code: 'era_unverified' },
      replayed: 0,
      unverified: 6,
      lacking: ['demo/Ledger@1'],
    });
    const { code, out, err } = await command(folder.path, 'verify', 'ledger.db', '--integrity');
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(bare.out);
    expect(JSON.parse((await run('verify', world, '--integrity', '--json')).out)).toMatchObject({ ok: true });
    expect(out).toContain('ledger.db: intact, not replayed\n');
    expect(out).toContain('NOT checked: whether decisions and states follow');
    expect(out).toContain(
      '@reprise/agent, @reprise/org, @reprise/server, @reprise/society, @reprise/specialists, @reprise/tree and @reprise/webhooks, lacks demo/Ledger@1; to replay it, name its app',
    );
    expect(out).toContain('replayed 0, unverified 6');
  });

  it('reprise verify replays a journal of the agent package without --app', async () => {
    const path = folder.file('agent.db');
    await makeAgentWorld(path);
    const { code, out } = await run('verify', path, '--json');
    expect(code).toBe(0);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ ok: true, app: '@reprise/agent', lacking: [], unverified: 0 });
    expect(report.replayed).toBe(report.frames);
    expect(Object.keys(report)).toEqual(Object.keys(report).toSorted());
    expect(report.head).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('reprise verify names the frame, the record, the path, both values and the cause when a reducer changed', async () => {
    const { code, out, err } = await command(folder.path, 'verify', 'ledger.db', '--app', CHANGED);
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toContain('replay_divergence: replaying frame 3 gave another fact\n');
    expect(err).toContain('  where       frame 3, record 1 (fact), $.value.total\n');
    expect(err).toContain('  recorded    6\n  regenerated 7\n');
    expect(err).toContain(
      '  caused by   #1 fact demo/Totalled@1\n              #0 request demo/Added@1 to demo/Ledger@1/a\n',
    );
    expect(err).toContain('npx reprise explain replay_divergence');
    expect(err).not.toMatch(/\n\s+at /);
  });

  it('reprise verify names the cell and the first divergent frame when only a state changed', async () => {
    const { code, err } = await run('verify', world, '--app', CHANGED_QUIETLY);
    expect(code).toBe(1);
    expect(err).toMatch(/where {7}frame 5, record 1 \(state\), \$\.leaves\[cell demo\/Ledger@1 a\]/);
    expect(err).toMatch(/ recorded .*\n {2}regenerated .*\n {2}caused by .*\n.* #0 request demo\/Noted@1/);
  });

  it('reprise verify reports a changed reducer as JSON with the same details', async () => {
    const { code, out, err } = await run('verify', world, '--app', CHANGED, '--json');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    const { ok, error } = JSON.parse(out);
    expect(ok).toBe(false);
    expect(error).toMatchObject({
      code: 'replay_divergence',
      divergence: { seq: 3, i: 1, recorded: 6, regenerated: 7 },
    });
    expect(error.page).toBe('npx reprise explain replay_divergence');
  });

  it('reprise verify finds a cut tail by the expected head alone', async () => {
    const path = copy('cut.db');
    tamper(path, 'DELETE FROM frame WHERE seq >= 4');
    expect((await run('verify', path, '--app', APP)).code).toBe(0);
    expect((await run('verify', path, '--integrity', '--expect', `sha256:${ledger.heads[2]}`)).code).toBe(0);
    const { code, err } = await run('verify', path, '--app', APP, '--expect', `sha256:${ledger.heads.at(-1)}`);
    expect(code).toBe(1);
    expect(err).toContain('head_mismatch: ');
    expect(err).toContain(`found       sha256:${ledger.heads[2]} at frame 3\n`);
  });

  it.each([
    ['a changed frame', 'UPDATE frame SET bytes = zeroblob(length(bytes)) WHERE seq = 4', 'journal_damaged', 'frame 4'],
    ['a lost frame', 'DELETE FROM frame WHERE seq = 2', 'journal_damaged', 'frame 2'],
    ['another head', 'UPDATE frame SET head = zeroblob(32) WHERE seq = 1', 'journal_damaged', 'frame 1'],
    [
      'a damaged manifest',
      'UPDATE frame SET bytes = zeroblob(9), size = 9 WHERE seq = 0',
      'journal_damaged',
      'frame 0',
    ],
    ['changed content', 'UPDATE blob SET bytes = zeroblob(5)', 'blob_damaged', ''],
    ['lost content', 'DELETE FROM blob', 'blob_missing', 'frame 5'],
  ])('reprise verify names the place of %s, with and without the app', async (name, sql, code, place) => {
    const path = copy(`${name}.db`);
    tamper(path, sql);
    for (const options of [[], ['--integrity'], ['--app', APP]]) {
      const ended = await run('verify', path, ...options);
      expect(ended.code).toBe(1);
      expect(ended.err).toContain(`${code}: `);
      expect(ended.err).toMatch(new RegExp(`where .*${place}`));
    }
  });

  it('reprise verify finds the app despite a damaged index of manifests, and names the frame missing from it', async () => {
    const path = folder.file('index.db');
    await makeAgentWorld(path);
    tamper(path, 'DELETE FROM landmark');
    const report = JSON.parse((await run('verify', path, '--json')).out);
    expect(report).toMatchObject({ ok: false, error: { code: 'journal_damaged', where: 'frame 0, record 0' } });
  });

  it('reprise verify reads the durable frames while a writer holds the world [RPL-7]', async () => {
    const path = copy('held.db');
    await using held = await openKernelWorld({ store: sqlite(path), app });
    const head = await add(held, 5);
    const { code, out } = await run('verify', path, '--app', APP, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ seq: 6, head: `sha256:${head}` });
  });
});

describe('reprise verify --app', () => {
  it.each([
    ['no such file', undefined, 'the module does not exist'],
    ['a module without an app', 'export const other = 1; export default {};', 'the module exports no app'],
    ['a module that throws', 'throw new TypeError("no \\u001b[1m luck")', 'the module throws while it loads'],
    ['a module that does not parse', 'export default }', 'the module throws while it loads'],
    ['a module that imports what is not there', 'import "./nowhere.mjs"', 'the module throws while it loads'],
  ])('reprise verify refuses --app with %s as wrong use', async (name, source, what) => {
    const path = folder.file(`${name.replaceAll(' ', '-')}.mjs`);
    if (source !== undefined) writeFileSync(path, source);
    const { code, err } = await run('verify', world, '--app', path);
    expect(code).toBe(2);
    expect(err).toContain(`invalid_argument: ${what}\n  where       ${path}\n`);
    expect(err).not.toContain('\x1b');
    expect(err).not.toMatch(/\n\s+at /);
  });

  it('reprise verify accepts an app exported as `app`, also from CommonJS', async () => {
    mkdirSync(folder.file('cjs'));
    const path = folder.file('cjs/app.cjs');
    writeFileSync(path, 'exports.app = { reducers: new Map(), plans: new Map(), effects: new Map() };');
    const { code, err } = await run('verify', world, '--app', path);
    expect(code).toBe(1); // taken, and it has none of the definitions
    expect(err).toContain('manifest_mismatch: ');
    expect(err).toContain('found       demo/Ledger@1');
  });
});
