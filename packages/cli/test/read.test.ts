import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openKernelWorld } from '@reprise/kernel';
import { readViews, touch } from '@reprise/kernel/views';
import { sqlite, sqliteViews } from '@reprise/store-sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import app from './apps/app.js';
import { command, ended, run, start } from './run.js';
import {
  add,
  eraseFrom,
  freshFolder,
  type Ledger,
  makeAgentWorld,
  makeAlike,
  makeDeep,
  makeLedger,
  tamper,
} from './worlds.js';

const APP = fileURLToPath(new URL('apps/app.ts', import.meta.url));
/** Text without control characters except line feeds and tabs. */
const PLAIN = /^[^\p{Cc}\p{Cf}]*$/u;

const folder = freshFolder();
const world = folder.file('ledger.db');
let ledger: Ledger;

beforeAll(async () => {
  ledger = await makeLedger(world);
});
afterAll(() => folder.remove());

function lines(text: string): string[] {
  expect(text.endsWith('\n')).toBe(true);
  return text.slice(0, -1).split('\n');
}

describe('reprise tail', () => {
  it('reprise tail prints one line for each record, safe for a terminal', async () => {
    const { code, out, err } = await command(folder.path, 'tail', 'ledger.db');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const rows = lines(out);
    expect(rows.length).toBe(16);
    expect(rows[0]).toMatch(
      /^0\.0 {5}\s+\d{4}-\d\d-\d\dT[\d:.]+Z {2}manifest {4}world [0-9a-f]{12}: demo\/Ledger@1; 0 plans/,
    );
    for (const row of rows) expect(row).toMatch(PLAIN);
    expect(out).toContain('state.note="\\u001b[2J\\u202egnp\\u009b31m\\nfake line"');
  });

  it('reprise tail prints the last frames with -n, and the frames from a number on with --from', async () => {
    const numbers = async (...args: string[]) =>
      [...(await run('tail', world, ...args)).out.matchAll(/^(\d+)\.0 /gm)].map(([, seq]) => Number(seq));
    expect(await numbers('-n', '2')).toEqual([4, 5]);
    expect(await numbers('-n', '0')).toEqual([]);
    expect(await numbers('--from', '3')).toEqual([3, 4, 5]);
    expect(await numbers('--from', '1', '-n', '2')).toEqual([1, 2]);
    expect(await numbers('--from', '6')).toEqual([]);
    expect(await numbers('--from', '1', '-n', '2', '--follow')).toEqual([1, 2]);
  });

  it('reprise tail prints a JSON object for each record', async () => {
    const { code, out } = await run('tail', world, '-n', '1', '--json');
    expect(code).toBe(0);
    const rows = lines(out).map((line) => JSON.parse(line));
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(['at', 'head', 'i', 'kind', 'record', 'seq', 'time']);
      expect(row).toMatchObject({ seq: 5, head: `sha256:${ledger.heads[4]}`, kind: row.record.kind });
    }
    expect(rows.map(({ i }) => i)).toEqual([0, 1]);
    expect(rows[0].record.event.value.at[0]).toBe(`sha256:${ledger.text.hex}`);
    expect(rows[1].record.leaves[0][0]).toEqual(['cell', 'demo/Ledger@1', 'a']);
    expect(Object.keys(rows[1].record.leaves[0][1])).toEqual(['state.note']);
    expect(out.replaceAll('\n', '')).toMatch(PLAIN);
  });

  it('reprise tail prints the frames before a damaged frame and then the damage', async () => {
    const path = folder.file('damaged.db');
    await makeLedger(path);
    tamper(path, 'UPDATE frame SET bytes = zeroblob(3), size = 3 WHERE seq = 2');
    const text = await run('tail', path);
    expect(text.code).toBe(1);
    expect(text.out).toContain('\n1.0 ');
    expect(text.err).toContain('journal_damaged: ');
    const json = lines((await run('tail', path, '--json')).out).map((line) => JSON.parse(line));
    expect(json.at(-1)).toMatchObject({ ok: false, error: { code: 'journal_damaged', where: 'frame 2' } });
  });

  it('reprise tail follows a world during writes until Ctrl-C, and exits with 0', async () => {
    const path = folder.file('live.db');
    await makeLedger(path);
    await using writer = await openKernelWorld({ store: sqlite(path), app });
    const child = start(folder.path, 'tail', 'live.db', '-n', '1', '--follow', '--json');
    const end = ended(child);
    await Promise.race([once(child.stdout!, 'data'), end]);
    const head = await add(writer, 7);
    await Promise.race([once(child.stdout!, 'data'), end]);
    child.kill('SIGINT');
    const { code, out, err } = await end;
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const rows = lines(out).map((line) => JSON.parse(line));
    expect(rows.map(({ seq }) => seq)).toEqual([5, 5, 6, 6, 6]);
    expect(rows.at(-1)).toMatchObject({ seq: 6, head: `sha256:${head}` });
  });

  it('reprise tail reports no error when the reader of its output closes', async () => {
    const child = start(folder.path, 'tail', 'ledger.db', '--follow');
    child.stdout?.once('data', () => child.stdout?.destroy());
    const path = folder.file('ledger.db');
    const writing = (async () => {
      await using writer = await openKernelWorld({ store: sqlite(path), app });
      for (let by = 0; child.exitCode === null && by < 100; by++) {
        await add(writer, by);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const { code, err } = await ended(child);
    await writing;
    expect({ code, err }).toEqual({ code: 0, err: '' });
  });
});

describe('reprise show', () => {
  it('reprise show shows a frame with its head and size', async () => {
    const { code, out } = await command(folder.path, 'show', 'ledger.db', '5');
    expect(code).toBe(0);
    expect(out).toMatch(/^frame 5 {2}\S+Z {2}\d+ bytes\nhead sha256:[0-9a-f]{64}\n5\.0 request\n\{\n {2}"at": /);
    expect(out).toContain('\n5.1 state\n');
    for (const line of lines(out)) expect(line).toMatch(PLAIN);
  });

  it('reprise show shows the history of a cell: its records and no others, without an app, with and without a views file', async () => {
    const path = folder.file('history.db');
    await makeLedger(path);
    const history = async () => (await run('show', path, 'demo/Ledger@1/a', '--history', '--json')).out;
    const { records } = JSON.parse(await history());
    expect(records.map(({ kind }: { kind: string }) => kind)).toEqual([
      ...Array(4).fill(['request', 'fact', 'state']).flat(),
      ...['request', 'state'],
    ]);
    expect(records[0]).toMatchObject({ kind: 'request', record: { event: { name: 'demo/Added@1' } } });
    const read = await history();
    const reader = await sqlite(path).openReadonly();
    await (await readViews(reader, [touch], { store: sqliteViews(path) })).close();
    await reader.close();
    expect(await history()).toBe(read);
    const { code, out } = await run('show', path, 'demo/Ledger@1/a', '--history');
    expect(code).toBe(0);
    expect(lines(out)).toHaveLength(15);
    for (const line of lines(out)) expect(line).toMatch(PLAIN);
    expect((await run('show', path, 'demo/Ledger@1/none', '--history')).code).toBe(2);
    expect((await run('show', path, '5', '--history')).code).toBe(2);
  });

  it('reprise show shows a record', async () => {
    const { code, out } = await run('show', world, '1.0', '--json');
    expect(code).toBe(0);
    const shown = JSON.parse(out);
    expect(shown).toMatchObject({ seq: 1, i: 0, head: `sha256:${ledger.heads[0]}`, record: { kind: 'request' } });
    expect((await run('show', world, '1.0')).out).toContain('record 1.0');
  });

  it('reprise show shows content as a value only when a link says so, otherwise as text, otherwise as hex', async () => {
    const value = await run('show', world, `${ledger.value}`);
    expect(value.out).toContain('\nvalue, ');
    expect(value.out).toContain(`"${ledger.text}"`);
    const text = await run('show', world, ledger.text.hex);
    expect(text.out).toContain(
      'text, 35 bytes, linked first by frame 5\n# Survey\n\\u001b[2J\\u202egnp\\u009b31m\nfake line',
    );
    const bytes = await run('show', world, `${ledger.bytes}`);
    expect(bytes.out).toContain('bytes, 100 bytes, linked first by frame 5\nfffefdfc');
    expect(JSON.parse((await run('show', world, `${ledger.bytes}`, '--json')).out)).toMatchObject({
      as: 'bytes',
      bytes: expect.stringMatching(/^[0-9a-f]{200}$/),
      linked_by: 5,
      size: 100,
    });
    for (const { code, out } of [value, text, bytes]) {
      expect(code).toBe(0);
      for (const line of lines(out)) expect(line).toMatch(PLAIN);
    }
  });

  it('reprise show shows the frame with a given head, also by its first digits', async () => {
    const [, head = ''] = ledger.heads;
    for (const what of [
      `sha256:${head}`,
      head.slice(0, 12),
      head.slice(0, 12).toUpperCase(),
      `sha256:${head.slice(0, 8)}…`,
    ]) {
      const { code, out } = await run('show', world, what);
      expect({ what, code }).toEqual({ what, code: 0 });
      expect(out).toContain('frame 2 ');
    }
  });

  it('reprise show shows content by the first digits of its digest, also content that only other content links', async () => {
    for (const ref of [ledger.text, ledger.value, ledger.bytes])
      expect((await run('show', world, ref.hex.slice(0, 12))).out).toBe((await run('show', world, `${ref}`)).out);
    const path = folder.file('deep.db');
    const deep = await makeDeep(path);
    expect((await run('show', path, `sha256:${deep.hex.slice(0, 12)}…`)).out).toContain(
      '\ntext, 4 bytes, linked first by',
    );
  });

  it('reprise show shows the records that have an id, by its first digits', async () => {
    const path = folder.file('ids.db');
    await makeAgentWorld(path);
    const rows = lines((await run('tail', path, '--json')).out).map((line) => JSON.parse(line));
    const { effect } = rows.find(({ kind }) => kind === 'receipt').record;
    const { code, out } = await run('show', path, effect.slice(0, 12));
    expect(code).toBe(0);
    const [title, ...shown] = lines(out);
    expect(title).toBe(`the id ${effect} is in ${shown.length} records`);
    expect(shown.map((row) => row.split(/ +/)[2])).toEqual(['effect', 'attempt', 'receipt', 'state']);
    const { id, records } = JSON.parse((await run('show', path, effect.slice(0, 8), '--json')).out);
    expect(id).toBe(effect);
    expect(records.map(({ kind }: { kind: string }) => kind)).toEqual(['effect', 'attempt', 'receipt', 'state']);
  });

  it('reprise show lists what begins with some digits when several things do', async () => {
    const path = folder.file('many.db');
    const [one, two] = await makeAlike(path);
    const digits = one.slice(0, 8);
    const { code, err } = await run('show', path, digits);
    expect(code).toBe(2);
    expect(err).toContain('several things of this world begin with these digits\n  expected    one of: ');
    for (const id of [one, two]) expect(err).toContain(`the id ${id} (frame `);
    expect(err).toContain(`  found       ${digits}\n  what to do  Give more digits.\n`);
    expect((await run('show', path, one)).out).toContain(`the id ${one} is in `);
  });

  it('reprise show reports linked content that is missing', async () => {
    const path = folder.file('lost.db');
    const { text } = await makeLedger(path);
    tamper(path, 'DELETE FROM blob');
    const { code, err } = await run('show', path, `${text}`);
    expect(code).toBe(1);
    expect(err).toContain(`blob_missing: linked content is missing from the store\n  where       frame 5, ${text}`);
  });

  it('reprise show distinguishes erased content from missing content, and shows its tombstone', async () => {
    const path = folder.file('erased.db');
    const { text } = await makeLedger(path);
    const report = await eraseFrom(path, text);
    const shown = await run('show', path, `${text}`);
    expect(shown.code).toBe(1);
    expect(shown.err).toContain(`blob_erased: the content was erased\n  where       frame ${report.seq}, ${text}`);
    const tail = await run('tail', path);
    expect(tail.out).toContain('1 blobs by human:dpo: request 17');
    const verified = await run('verify', path, '--app', APP);
    expect(verified.code).toBe(0);
    expect(verified.out).toContain('erased 1: a tombstone in the journal accounts for each\n');
    expect(JSON.parse((await run('verify', path, '--json')).out)).toMatchObject({ erased: 1, returned: 0 });
  });

  it('reprise show shows a cell with the length of its logs, now and at an earlier frame', async () => {
    const now = await run('show', world, 'demo/Ledger@1/a', '--app', APP, '--at', '5', '--json');
    expect(JSON.parse(now.out)).toMatchObject({ seq: 5, state: { total: 10 }, logs: { history: 4 } });
    const then = await command(folder.path, 'show', 'ledger.db', 'demo/Ledger@1/a', '--app', APP, '--at', '2');
    expect(then.code).toBe(0);
    expect(then.out).toBe(
      `demo/Ledger@1/a after frame 2\nhead sha256:${ledger.heads[1]}\n{\n  "note": "",\n  "total": 3\n}\nlog history: 2 items\n`,
    );
  });

  it('reprise show shows a session of the agent package without --app', async () => {
    const path = folder.file('agent.db');
    await makeAgentWorld(path);
    const { code, out } = await run('show', path, 'aos.agent/SessionReducer@1/s', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ state: { lifecycle: 'Completed' }, logs: { transcript: 2 } });
  });
});
