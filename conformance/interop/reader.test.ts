/** The reader of the how-to page, without Reprise, on worlds that the page does not show. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { deflateSync, inflateSync } from 'node:zlib';
import { creates, defineApp, defineReducer, openKernelWorld, verifyStore } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { loadWorld } from '@reprise/testkit';
import Database from 'libsql';
import { afterAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { keptFolders, keptWorlds } from '../golden/stored.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PAGE = 'docs/how-to/read-a-journal-without-reprise.md';

/** The program that the page shows as `read.js`. */
const [, source = ''] = /^```js file=read\.js\n(.*?)^```$/ms.exec(readFileSync(path.join(ROOT, PAGE), 'utf8')) ?? [];

// Inside of the repository, where the reader finds its libraries.
const folder = mkdtempSync(path.join(ROOT, 'node_modules/.interop-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const reader = path.join(folder, 'read.mjs');
writeFileSync(reader, source);

const LINE = '(a line that each request repeats) '.repeat(100);

const diary = defineReducer({
  name: 'diary/Diary@1',
  state: z.strictObject({ last: z.string() }),
  events: { 'diary/Written@1': creates(z.strictObject({ line: z.string() })) },
  init: () => ({ last: '' }),
  reduce(draft, event) {
    draft.last = event.value.line;
  },
});
const app = defineApp({ reducers: [diary] });

/** A world whose appends have many frames, of which several share rows. @returns its file */
async function manyFrames(name: string): Promise<string> {
  const file = path.join(folder, name);
  const world = await openKernelWorld({ store: sqlite(file), app });
  const write = (i: number) =>
    world.request(
      ['diary/Diary@1', 'd'],
      { name: 'diary/Written@1', value: { line: `${i} ${LINE}` } },
      { id: `w-${i}` },
    );
  await Promise.all(Array.from({ length: 60 }, (_, i) => write(i)));
  await world.close();
  return file;
}

/** The golden world with content, in a file. */
async function sessionWorld(name: string): Promise<string> {
  const session = keptFolders()
    .flatMap(keptWorlds)
    .find(({ golden }) => golden.name === 'session');
  const file = path.join(folder, name);
  await loadWorld(session?.world ?? new Uint8Array(), sqlite(file));
  return file;
}

async function read(file: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [reader, file]);
  return stdout.trimEnd().split('\n');
}

async function headOf(file: string): Promise<string> {
  const { head, frames } = await verifyStore(await sqlite(file).openReadonly(), { app });
  return `${frames} frames, head sha256:${head.digest}`;
}

const told = (lines: readonly string[]) =>
  `${lines.filter((line) => line.startsWith('frame ')).length} frames, ${lines.at(-1)}`;

describe('the reader of the how-to page [CODEC-17]', () => {
  it('the reader imports nothing of Reprise', () => {
    const imported = [...source.matchAll(/^import .* from '(.*)';$/gm)].map((match) => match[1]);
    expect(imported).toEqual(['node:crypto', 'node:fs', 'node:zlib', 'cbor-x', 'libsql']);
    expect(source.split('\n').length).toBeLessThan(120);
  });

  it('the reader reads frames that share rows, deflated, up to the head that verification finds', async () => {
    const file = await manyFrames('many.db');
    const shared = new Database(file)
      .prepare('SELECT count(*) AS n FROM frame WHERE first < seq AND length(bytes) < size')
      .get([]);
    expect((shared as { n: number }).n).toBeGreaterThan(0);
    expect(told(await read(file))).toBe(await headOf(file));
  });

  it.each(keptFolders().flatMap(keptWorlds))(
    'the reader reads the golden world $golden.name',
    async ({ golden, world, pins }) => {
      const file = path.join(folder, `${golden.name}.db`);
      await loadWorld(world, sqlite(file));
      expect(told(await read(file))).toContain(JSON.parse(pins).head);
    },
  );

  it('the reader refuses a frame with a changed byte, and names its number', async () => {
    const file = await manyFrames('changed.db');
    const db = new Database(file);
    const { seq, bytes } = db.prepare('SELECT seq, bytes FROM frame WHERE first = 0').get([]) as never as {
      seq: number;
      bytes: Uint8Array;
    };
    const changed = inflateSync(bytes);
    const start = 45 + (changed[40] ?? 0);
    const last = start + changed.readUInt32BE(start - 4) - 1;
    changed[last] = (changed[last] ?? 0) ^ 1;
    db.prepare('UPDATE frame SET bytes = ? WHERE seq = ?').run([deflateSync(changed), seq]);
    db.close();
    await expect(read(file)).rejects.toThrow('frame 0 is not the frame that was written');
  });

  it('the reader reads content from packs as it does from rows of their own', async () => {
    const file = await sessionWorld('packs.db');
    const before = await read(file);
    const db = new Database(file);
    const pieces: Uint8Array[] = [];
    let at = 0;
    const rows = db.prepare('SELECT digest, bytes FROM blob').all([]) as { digest: Uint8Array; bytes: Uint8Array }[];
    for (const row of rows) {
      const [digest, bytes, length] = [Buffer.from(row.digest), Buffer.from(row.bytes), Buffer.alloc(4)];
      length.writeUInt32BE(bytes.length);
      pieces.push(length, bytes);
      db.prepare('INSERT INTO packed (digest, pack, at) VALUES (?, 1, ?)').run([digest, at]);
      at += 4 + bytes.length;
    }
    db.prepare('INSERT INTO pack (id, size, bytes) VALUES (1, ?, ?)').run([at, deflateSync(Buffer.concat(pieces))]);
    db.exec('DELETE FROM blob');
    db.close();
    expect(pieces.length).toBeGreaterThan(4);
    expect(await read(file)).toEqual(before);
  });

  it('the reader refuses content that does not have its digest', async () => {
    const file = await sessionWorld('content.db');
    const db = new Database(file);
    db.exec("UPDATE blob SET bytes = x'00'");
    db.close();
    await expect(read(file)).rejects.toThrow('is damaged or erased');
  });
});
