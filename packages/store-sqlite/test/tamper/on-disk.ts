/** The damage of `conformance/tamper` in a real file, made by SQL behind the store's back and found by the real reader. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { agentApp } from '@reprise/agent';
import { isRepriseError, type RepriseError } from '@reprise/contracts';
import { type StoredFrame, type VerifyOptions, verifyStore } from '@reprise/kernel';
import { flipped, type SampleWorld } from '../../../../conformance/tamper/sample.js';
import { names } from '../../../../conformance/tamper/trials.js';
import { sqliteDriver } from '../../src/database/driver.js';
import { sqlite } from '../../src/index.js';

/** One tampering with a file. */
export interface FileTrial {
  readonly what: string;
  /** A frame's number or a blob's digest; null when it must be found and its place cannot be known. */
  readonly place: number | string | null;
  /** Statements to run; a blob to overwrite or remove when it is a file. */
  tamper(db: string): Promise<void>;
}

/** A row of frames as the table has it. */
interface Row {
  readonly seq: number;
  readonly first: number;
  readonly bytes: Uint8Array;
  readonly head: Uint8Array;
  readonly size: number;
}

/** Every row and every blob of a world's file, each tampered with in every way that SQL can. */
export async function fileTrials(sample: SampleWorld, random: () => number): Promise<FileTrial[]> {
  const db = (await sqliteDriver()).open(sample.db, 'read');
  const rows = db
    .prepare('SELECT seq, first, bytes, head, size FROM frame ORDER BY seq')
    .all()
    .map(([seq, first, bytes, head, size]) => ({ seq, first, bytes, head, size }) as Row);
  const digests = (table: string): Set<string> =>
    new Set(
      db
        .prepare(`SELECT digest FROM ${table}`)
        .all()
        .map(([digest]) => hexOf(digest as Uint8Array)),
    );
  const [inline, packed] = [digests('blob'), digests('packed')];
  db.close();
  const trials: FileTrial[] = [];
  const sql = (what: string, place: FileTrial['place'], statements: string) =>
    trials.push({ what, place, tamper: (file) => run(file, statements) });
  rows.forEach((row, i) => {
    const { seq, first } = row;
    const damaged = flipped(row.bytes, Math.floor(random() * row.bytes.length), Math.floor(random() * 8));
    const inRow = first === seq ? seq : null;
    sql(`row ${seq}: bytes`, inRow, `UPDATE frame SET bytes = x'${hexOf(damaged)}' WHERE seq = ${seq}`);
    sql(`row ${seq}: cut`, inRow, `UPDATE frame SET bytes = substr(bytes, 1, length(bytes) - 1) WHERE seq = ${seq}`);
    sql(`row ${seq}: emptied`, inRow, `UPDATE frame SET bytes = x'' WHERE seq = ${seq}`);
    const head = flipped(row.head, Math.floor(random() * 32), Math.floor(random() * 8));
    sql(`row ${seq}: head`, seq, `UPDATE frame SET head = x'${hexOf(head)}' WHERE seq = ${seq}`);
    sql(`row ${seq}: head cut`, seq, `UPDATE frame SET head = substr(head, 1, 16) WHERE seq = ${seq}`);
    if (first === seq) {
      sql(`row ${seq}: time`, seq, `UPDATE frame SET at = at + 1 WHERE seq = ${seq}`);
      sql(`row ${seq}: kind`, seq, `UPDATE frame SET kind = 'timer' WHERE seq = ${seq}`);
    }
    if (first !== seq) trials.push(...frameTrials(row, random));
    sql(`row ${seq}: repeated`, seq + 1, `${shift(seq, 1)}; ${copyOf(seq, 1)}`);
    const after = rows[i + 1];
    if (after === undefined) return;
    sql(`row ${seq}: removed`, first, `DELETE FROM frame WHERE seq = ${seq}`);
    sql(
      `row ${seq}: removed, the others moved up`,
      null,
      `DELETE FROM frame WHERE seq = ${seq}; ${shift(seq, first - seq - 1)}`,
    );
    if (first !== seq || after.first !== after.seq) return;
    const other = `(SELECT bytes FROM frame WHERE seq = ${after.seq})`;
    sql(`row ${seq}: the next one’s bytes`, seq, `UPDATE frame SET bytes = ${other} WHERE seq = ${seq}`);
    sql(
      `row ${seq}: exchanged with the next`,
      seq,
      `UPDATE frame SET seq = -1, first = -1 WHERE seq = ${seq};
       UPDATE frame SET seq = ${seq}, first = ${seq} WHERE seq = ${after.seq};
       UPDATE frame SET seq = ${after.seq}, first = ${after.seq} WHERE seq = -1`,
    );
  });
  sql('landmarks: removed', 0, `DELETE FROM landmark WHERE kind = 'manifest'`);
  sql('landmarks: a false manifest', 5, `INSERT INTO landmark (kind, seq) VALUES ('manifest', 5)`);
  sql('landmarks: a false snapshot', 5, `INSERT INTO landmark (kind, seq) VALUES ('snapshot', 5)`);
  sql('requests: removed', 1, 'DELETE FROM request');
  sql('requests: at other frames', 1, 'UPDATE request SET seq = seq + 1');
  for (const [hex, bytes] of sample.blobs) {
    const damaged = bytes.length === 0 ? new Uint8Array([0]) : flipped(bytes, Math.floor(random() * bytes.length), 0);
    if (inline.has(hex)) {
      sql(`blob ${hex}: bytes`, hex, `UPDATE blob SET bytes = x'${hexOf(damaged)}' WHERE digest = x'${hex}'`);
      sql(`blob ${hex}: removed`, hex, `DELETE FROM blob WHERE digest = x'${hex}'`);
    } else if (packed.has(hex)) {
      trials.push({
        what: `blob ${hex} in its pack: bytes`,
        place: hex,
        tamper: (file) => damagePacked(file, hex, damaged),
      });
      sql(`blob ${hex} in its pack: removed`, hex, `DELETE FROM packed WHERE digest = x'${hex}'`);
      const pack = `(SELECT pack FROM packed WHERE digest = x'${hex}')`;
      sql(`the pack of blob ${hex}: cut`, null, `UPDATE pack SET bytes = substr(bytes, 1, 40) WHERE id = ${pack}`);
      sql(`the pack of blob ${hex}: removed`, null, `DELETE FROM pack WHERE id = ${pack}`);
    } else {
      trials.push({
        what: `blob file ${hex}: bytes`,
        place: hex,
        tamper: async (db) => writeFileSync(blobFile(db, hex), damaged),
      });
      trials.push({ what: `blob file ${hex}: removed`, place: hex, tamper: async (db) => rmSync(blobFile(db, hex)) });
    }
  }
  return trials;
}

/** The same world with a row for each frame and each blob, as a new world has it. */
export async function unpacked(sample: SampleWorld): Promise<SampleWorld> {
  const folder = path.join(sample.root, 'unpacked');
  cpSync(path.dirname(sample.db), folder, { recursive: true });
  const file = path.join(folder, path.basename(sample.db));
  const store = await sqlite(file).openReadonly();
  const frames: StoredFrame[] = [];
  for await (const frame of store.journal.read(0)) frames.push(frame);
  await store.close();
  const db = (await sqliteDriver()).open(file, 'write');
  const packed = db.prepare('SELECT digest FROM packed').all();
  db.exec('BEGIN; DELETE FROM frame; DELETE FROM packed; DELETE FROM pack');
  const addFrame = db.prepare(
    'INSERT INTO frame (seq, first, at, kind, head, bytes, size) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const addLandmark = db.prepare('INSERT OR IGNORE INTO landmark (kind, seq) VALUES (?, ?)');
  for (const { seq, at, kind, head, bytes } of frames) {
    addFrame.run(seq, seq, at, kind, Buffer.from(head, 'hex'), bytes, bytes.length);
    addLandmark.run(kind, seq);
  }
  const addBlob = db.prepare('INSERT INTO blob (digest, bytes) VALUES (?, ?)');
  for (const [digest] of packed) {
    addBlob.run(digest as Uint8Array, sample.blobs.get(hexOf(digest as Uint8Array)) as Uint8Array);
  }
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  return { ...sample, db: file };
}

/** A bit of each frame in a packed row turned; the row is packed again. */
function frameTrials({ first, seq, bytes, size }: Row, random: () => number): FileTrial[] {
  const plain = size === bytes.length ? bytes : inflateSync(bytes);
  const view = Buffer.from(plain);
  const trials: FileTrial[] = [];
  for (let [frame, at] = [first, 0]; frame <= seq; frame++) {
    const start = at + 45 + (view[at + 40] as number);
    at = start + view.readUInt32BE(start - 4);
    const changed = flipped(view, start + Math.floor(random() * (at - start)), Math.floor(random() * 8));
    const stored = `bytes = x'${hexOf(deflateSync(changed))}', size = ${changed.length}`;
    trials.push({
      what: `frame ${frame} in its pack: bytes`,
      place: frame,
      tamper: (file) => run(file, `UPDATE frame SET ${stored} WHERE seq = ${seq}`),
    });
  }
  return trials;
}

/** Other bytes of the same length in the place of a blob; its pack is packed again. */
async function damagePacked(file: string, hex: string, bytes: Uint8Array): Promise<void> {
  const db = (await sqliteDriver()).open(file, 'write');
  const sql = 'SELECT pack.id, pack.bytes, size, at FROM packed JOIN pack ON pack.id = pack WHERE digest = ?';
  const [id, stored, size, at] = db.prepare(sql).get(Buffer.from(hex, 'hex')) as [number, Uint8Array, number, number];
  const plain = Buffer.from(stored.length === size ? stored : inflateSync(stored));
  plain.set(bytes, at + 4);
  db.prepare('UPDATE pack SET bytes = ? WHERE id = ?').run(deflateSync(plain), id);
  db.close();
}

/** Moves every row after `seq`; by way of negative numbers, since each number is there once at any moment. */
function shift(seq: number, by: number): string {
  return `UPDATE frame SET seq = -(seq + ${by}), first = -(first + ${by}) WHERE seq > ${seq};
          UPDATE frame SET seq = -seq, first = -first WHERE seq < 0`;
}

function copyOf(seq: number, by: number): string {
  const columns = 'at, kind, head, bytes, size';
  return `INSERT INTO frame (seq, first, ${columns}) SELECT seq + ${by}, seq + ${by}, ${columns} FROM frame WHERE seq = ${seq}`;
}

/** The end of a journal cut off in the file. */
export function cutTail(seq: number): FileTrial {
  return {
    what: `cut before row ${seq}`,
    place: null,
    tamper: (file) => run(file, `DELETE FROM frame WHERE seq >= ${seq}`),
  };
}

async function run(file: string, statements: string): Promise<void> {
  const db = (await sqliteDriver()).open(file, 'write');
  db.exec(statements);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

/** A copy of the sample's world, tampered with; what a verification says of it. */
export async function verdictOnFile(
  sample: SampleWorld,
  trial: FileTrial,
  options: VerifyOptions = { app: agentApp },
): Promise<RepriseError | undefined> {
  const copy = path.join(sample.root, 'copy');
  cpSync(path.dirname(sample.db), copy, { recursive: true });
  try {
    const db = path.join(copy, path.basename(sample.db));
    await trial.tamper(db);
    return await verdictOn(db, options);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

async function verdictOn(db: string, options: VerifyOptions): Promise<RepriseError | undefined> {
  try {
    const store = await sqlite(db).openReadonly();
    try {
      await verifyStore(store, options);
    } finally {
      await store.close();
    }
    return undefined;
  } catch (error) {
    if (isRepriseError(error) && error.code !== 'internal_error') return error;
    throw error;
  }
}

/** Holds a verification to a tampering with a file: found, and its place named. */
export async function expectFoundInFile(sample: SampleWorld, trial: FileTrial): Promise<void> {
  const error = await verdictOnFile(sample, trial);
  assert.ok(error !== undefined, `${trial.what}: not found`);
  if (trial.place !== null) assert.ok(names(error, trial.place), `${trial.what}: found elsewhere: ${error.message}`);
  else assert.ok(/frame|row|sha256:/.test(error.message), `${trial.what}: no place: ${error.message}`);
}

function blobFile(db: string, hex: string): string {
  const file = path.join(`${db}.blobs`, hex.slice(0, 2), hex);
  if (!existsSync(file)) throw new Error(`${file} is not there`);
  return file;
}

/** A bit of the file itself turned, wherever it is. */
export function flippedFile(at: number, bit: number): FileTrial {
  return {
    what: `byte ${at} of the file, bit ${bit}`,
    place: null,
    tamper: async (db) => writeFileSync(db, flipped(readFileSync(db), at, bit)),
  };
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
