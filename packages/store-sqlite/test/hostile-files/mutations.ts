/** The changes that an attacker may make to the file of a world: to its bytes, its pages, its schema, its rows. */

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { deflateSync } from 'node:zlib';

/** A change of a file that is closed. @returns what was done, in words */
export type Mutation = (file: string, random: () => number) => string;

interface Database {
  exec(sql: string): void;
  close(): void;
}

const require = createRequire(new URL('../../package.json', import.meta.url));
const Libsql = require('libsql') as new (path: string) => Database;

const PAGE = 4_096;

const pick = <T>(random: () => number, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

/** Bits and bytes anywhere. */
const bytes: Mutation = (file, random) => {
  const image = readFileSync(file);
  const count = 1 + Math.floor(random() * 12);
  for (let i = 0; i < count; i++) image[Math.floor(random() * image.length)] = Math.floor(random() * 256);
  writeFileSync(file, image);
  return `${count} bytes`;
};

/** The head of a page, its pointers to others, the lengths of its cells: where a reader is led. */
const pages: Mutation = (file, random) => {
  const image = readFileSync(file);
  const count = Math.floor(image.length / PAGE);
  const done: string[] = [];
  for (let i = 1 + Math.floor(random() * 4); i > 0; i--) {
    const page = Math.floor(random() * count);
    const head = page * PAGE + (page === 0 ? 100 : 0);
    const how = pick(random, ['kind', 'cells', 'pointer', 'cell', 'child', 'copy'] as const);
    if (how === 'kind') image[head] = pick(random, [2, 5, 10, 13, 0, 255]);
    if (how === 'cells') image.writeUInt16BE(pick(random, [0, 1, 2, 500, 65_535]), head + 3);
    if (how === 'pointer') image.writeUInt16BE(Math.floor(random() * PAGE), head + 8 + 2 * Math.floor(random() * 6));
    if (how === 'cell') {
      const at = image.readUInt16BE(head + 8);
      image.fill(pick(random, [0xff, 0x81, 0x7f, 0]), page * PAGE + at, Math.min(image.length, page * PAGE + at + 9));
    }
    if (how === 'child') image.writeUInt32BE(1 + Math.floor(random() * count), head + 8);
    if (how === 'copy') image.copy(image, page * PAGE + 100, Math.floor(random() * count) * PAGE + 100, 0);
    done.push(`${how} of page ${page + 1}`);
  }
  writeFileSync(file, image);
  return done.join(', ');
};

/** One page leads to itself or to its parent, so that a walk never ends. */
const circles: Mutation = (file, random) => {
  const image = readFileSync(file);
  const count = Math.floor(image.length / PAGE);
  const from = Math.floor(random() * count);
  const head = from * PAGE + (from === 0 ? 100 : 0);
  const to = pick(random, [from + 1, 1, 1 + Math.floor(random() * count)]);
  image[head] = pick(random, [2, 5]);
  const cells = pick(random, [1, 16, 200]);
  image.writeUInt16BE(cells, head + 3);
  image.writeUInt32BE(to, head + 8);
  for (let i = 0; i < cells; i++) {
    const at = PAGE - 16 * (i + 1);
    image.writeUInt16BE(at, head + 12 + 2 * i);
    image.writeUInt32BE(to, from * PAGE + at);
    image[from * PAGE + at + 4] = i & 0x7f;
  }
  writeFileSync(file, image);
  return `page ${from + 1} leads to ${to}, ${cells} times`;
};

const SIZES: Mutation = (file, random) => {
  const image = readFileSync(file);
  const length = Math.floor(random() * image.length * 1.2);
  const changed = Buffer.alloc(length);
  image.copy(changed);
  writeFileSync(file, changed);
  return `${length} bytes long`;
};

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)';

const VIEWS = [
  `DROP TABLE frame; CREATE VIEW frame AS ${ENDLESS} SELECT i AS seq, i AS first, 0 AS at, 'request' AS kind, zeroblob(32) AS head, x'00' AS bytes, 1 AS size FROM n`,
  `DROP TABLE blob; CREATE VIEW blob AS ${ENDLESS} SELECT i AS digest, x'00' AS bytes FROM n`,
  `DROP TABLE meta; CREATE VIEW meta AS ${ENDLESS} SELECT 'mark' AS name, i AS value FROM n`,
];

/** A table that has no end. */
const views: Mutation = (file, random) => change(file, pick(random, VIEWS));

const SCHEMAS = [
  'CREATE TRIGGER t AFTER INSERT ON frame BEGIN DELETE FROM frame WHERE seq = new.seq; END',
  'CREATE TRIGGER t BEFORE INSERT ON blob BEGIN SELECT RAISE(IGNORE); END',
  'CREATE INDEX extra ON frame (kind)',
  'CREATE TABLE extra (x)',
  'ALTER TABLE frame ADD COLUMN extra TEXT',
  'ALTER TABLE frame RENAME COLUMN kind TO sort',
  'DROP TABLE landmark',
  'DROP TABLE request',
  'DROP TABLE erased; CREATE TABLE erased (digest, seq, hollow)',
  'DROP TABLE request; CREATE TABLE request (key BLOB PRIMARY KEY, seq TEXT NOT NULL) WITHOUT ROWID',
  'DROP TABLE frame; CREATE TABLE frame (seq INTEGER PRIMARY KEY, first, at, kind, head, bytes)',
  "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'INTEGER NOT NULL', 'TEXT NOT NULL') WHERE name = 'frame'",
  "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 2 WHERE type = 'table'",
  "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = x'ff' WHERE name = 'blob'",
  "PRAGMA writable_schema = ON; UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT) WHERE name = 'blob'",
  'PRAGMA user_version = 77',
  'PRAGMA application_id = 77',
];

const schemas: Mutation = (file, random) => change(file, pick(random, SCHEMAS));

const VALUES = [
  'NULL',
  '-1',
  '9223372036854775807',
  '-9223372036854775808',
  '9007199254740993',
  '1e308',
  "''",
  "'text'",
  "CAST(x'fffe' AS TEXT)",
  "x''",
  "x'00'",
  'zeroblob(31)',
  'zeroblob(32)',
  'zeroblob(65536)',
  'zeroblob(3000000)',
  'randomblob(200)',
  `x'${deflateSync(Buffer.alloc(64 * 1024 * 1024)).toString('hex')}'`, // a bomb
];

const COLUMNS = [
  ['frame', ['seq', 'first', 'at', 'kind', 'head', 'bytes', 'size']],
  ['landmark', ['kind', 'seq']],
  ['request', ['key', 'seq']],
  ['blob', ['digest', 'bytes']],
  ['pack', ['id', 'size', 'bytes']],
  ['packed', ['digest', 'pack', 'at']],
  ['erased', ['digest', 'seq', 'hollow']],
  ['meta', ['name', 'value']],
] as const;

/** Values of other types, sizes and signs, in rows that are there or in new ones. */
const rows: Mutation = (file, random) => {
  const [table, columns] = pick(random, COLUMNS);
  if (random() < 0.3) {
    const values = columns.map(() => pick(random, VALUES)).join(', ');
    return change(file, `INSERT OR REPLACE INTO ${table} (${columns.join(', ')}) VALUES (${values})`);
  }
  const column = pick(random, columns);
  const where = `${columns[0]} IN (SELECT ${columns[0]} FROM ${table} ORDER BY random() LIMIT ${pick(random, [1, 3])})`;
  if (random() < 0.2) return change(file, `DELETE FROM ${table} WHERE ${where}`);
  return change(file, `UPDATE OR REPLACE ${table} SET ${column} = ${pick(random, VALUES)} WHERE ${where}`);
};

/** Notes that the store and the world go by. */
const notes: Mutation = (file, random) => {
  const name = pick(random, ['mark', 'clean', 'owner', 'log', 'erased_through', 'packed_through']);
  const value = pick(random, [...VALUES, "'fork 3'", "'fork 99999999999999999999'", "'needed'", "'a b 1 c d e'"]);
  return change(file, `INSERT OR REPLACE INTO meta (name, value) VALUES ('${name}', ${value})`);
};

/** A log that the file does not know. */
const logs: Mutation = (file, random) => {
  const image = readFileSync(file);
  const log = Buffer.from(image.subarray(0, Math.floor(random() * image.length)));
  log.writeUInt32BE(0x377f0682, 0);
  writeFileSync(`${file}-wal`, log);
  return `a log of ${log.length} bytes`;
};

/** Runs SQL on the closed file; what it refuses changes nothing. */
function change(file: string, sql: string): string {
  const db = new Libsql(file);
  try {
    db.exec(sql);
    return sql;
  } catch (error) {
    return `${sql}: ${error instanceof Error ? error.message : error}`;
  } finally {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
  }
}

/** Every kind of change. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  bytes,
  pages,
  circles,
  sizes: SIZES,
  views,
  schemas,
  rows,
  notes,
  logs,
};
