/**
 * Full-text search over 10,000 documents: folding them, and asking, beside reading every document and beside FTS5 of
 * the same SQLite, in the same run. The order of the answers is compared with the formula in floats.
 *
 *   node --conditions=@reprise/source --import tsx packages/store-sqlite/bench/text.ts [documents]
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { creates, defineApp, defineReducer, defineTextIndex, memory, openWorld } from '@reprise/kernel';
import { memoryViews, readViews, type TextQuery, type ViewStore, type Views } from '@reprise/kernel/views';
import * as z from 'zod';
import { type Connection, sqliteDriver } from '../src/database/driver.js';
import { nodeSha256, sqliteViews } from '../src/index.js';

const DOCUMENTS = Number(process.argv[2] ?? 10_000);
const QUERIES = 300;
const WORDS = 20_000;

const Written = z.strictObject({ text: z.string() });
const NAME = 'bench/Memory@1';
const app = defineApp({
  reducers: [
    defineReducer({
      name: NAME,
      state: z.strictObject({}),
      events: { 'bench/Written@1': creates(Written) },
      init: () => ({}),
      reduce: () => undefined,
    }),
  ],
});
const index = defineTextIndex({
  name: 'bench/Text@1',
  from: { 'event:bench/Written@1': Written },
  fold(documents, { cell, value }) {
    documents.put(cell?.[1] ?? '', value.text);
  },
});

// Words as people use them: the n-th most common one n times as rare as the first.
let state = 42;
const random = (): number => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};
const word = (): string => `w${Math.floor(WORDS ** random())}`;
const texts = Array.from({ length: DOCUMENTS }, () =>
  Array.from({ length: 20 + Math.floor(random() * 120) }, word).join(' '),
);
const queries = Array.from({ length: QUERIES }, () =>
  Array.from({ length: 1 + Math.floor(random() * 3) }, word).join(' '),
);

const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-'));
const store = memory({ hash: nodeSha256 });
await write();
const reader = await store.openReadonly();
console.log(`${DOCUMENTS} documents, ${QUERIES} queries of 1 to 3 words, the best ten of those with any of the words`);

const kept: Record<string, ViewStore> = { memory: memoryViews(), sqlite: sqliteViews(join(folder, 'world.db')) };
const opened: Record<string, Views> = {};
for (const [name, views] of Object.entries(kept)) {
  const began = performance.now();
  opened[name] = await readViews(reader, [index], { store: views });
  report(`index, ${name}`, performance.now() - began, DOCUMENTS, 'document');
}
const fts = await timedFts();
const tokens = texts.map((text) => text.split(' '));

const answers: Record<string, string[][]> = {};
await ask('query, memory', (text) => search(opened.memory as Views, { text }));
await ask('query, sqlite', (text) => search(opened.sqlite as Views, { text }));
await ask('query, FTS5', async (text) => ftsSearch(fts, text));
await ask('query, reading every document', async (text) => scan(text));

const exact = answers['query, reading every document'] ?? [];
for (const name of ['query, memory', 'query, sqlite', 'query, FTS5']) {
  const given = answers[name] ?? [];
  const same = given.filter((ids, i) => ids.join() === exact[i]?.join()).length;
  const set = given.filter((ids, i) => ids.toSorted().join() === exact[i]?.toSorted().join()).length;
  console.log(
    `${name.padEnd(32)} the same ten as the formula in floats ${set} of ${QUERIES}, in the same order ${same}`,
  );
}
for (const views of Object.values(opened)) await views.close();
const began = performance.now();
const again = await readViews(reader, [index], { store: kept.sqlite as ViewStore });
report('open again, sqlite', performance.now() - began, 1, 'opening');
console.log(`views file ${(statSync(join(folder, 'world.db.views')).size / 2 ** 20).toFixed(1)} MiB`);
await again.close();
fts.close();
rmSync(folder, { recursive: true });

async function write(): Promise<void> {
  await using world = await openWorld({ store, app, recheckEvery: 0, snapshotEvery: 0 });
  for (let i = 0; i < texts.length; i += 500) {
    const some = texts.slice(i, i + 500);
    await Promise.all(
      some.map((text, k) => world.request([NAME, idOf(i + k)], { name: 'bench/Written@1', value: { text } })),
    );
  }
}

function idOf(i: number): string {
  return `d${String(i).padStart(6, '0')}`;
}

async function search(views: Views, query: TextQuery): Promise<string[]> {
  const { hits } = await views.text(index).search({ ...query, match: 'any', limit: 10 });
  return hits.map(({ id }) => String(id));
}

async function ask(name: string, body: (text: string) => Promise<string[]>): Promise<void> {
  const began = performance.now();
  const given: string[][] = [];
  for (const text of queries) given.push(await body(text));
  answers[name] = given;
  report(name, performance.now() - began, QUERIES, 'query');
}

async function timedFts(): Promise<Connection> {
  const db = (await sqliteDriver()).open(join(folder, 'fts.db'), 'write');
  const began = performance.now();
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE VIRTUAL TABLE doc USING fts5(text); BEGIN');
  const insert = db.prepare('INSERT INTO doc (rowid, text) VALUES (?, ?)');
  for (const [i, text] of texts.entries()) insert.run(i + 1, text);
  db.exec('COMMIT');
  report('index, FTS5', performance.now() - began, DOCUMENTS, 'document');
  return db;
}

function ftsSearch(db: Connection, text: string): string[] {
  const match = text.split(' ').join(' OR ');
  const rows = db.prepare('SELECT rowid FROM doc WHERE doc MATCH ? ORDER BY bm25(doc), rowid LIMIT 10').all(match);
  return rows.map(([row]) => idOf(Number(row) - 1));
}

/** The formula in floats, over every document. */
function scan(text: string): string[] {
  const words = [...new Set(text.split(' '))];
  const average = tokens.reduce((sum, own) => sum + own.length, 0) / tokens.length;
  const counts = tokens.map((own) => words.map((one) => own.filter((other) => other === one).length));
  const weights = words.map((_, w) => {
    const containing = counts.filter((count) => (count[w] ?? 0) > 0).length;
    return Math.log(1 + (tokens.length - containing + 0.5) / (containing + 0.5));
  });
  const scored = counts.map((count, i) => {
    const norm = 1.2 * (0.25 + (0.75 * (tokens[i]?.length ?? 0)) / average);
    return { i, score: count.reduce((sum, n, w) => sum + ((weights[w] ?? 0) * 2.2 * n) / (n + norm), 0) };
  });
  const best = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score || a.i - b.i);
  return best.slice(0, 10).map(({ i }) => idOf(i));
}

function report(name: string, ms: number, count: number, unit: string): void {
  console.log(
    `${name.padEnd(32)} ${(ms / 1000).toFixed(2).padStart(8)} s ${(ms / count).toFixed(3).padStart(10)} ms/${unit}`,
  );
}
