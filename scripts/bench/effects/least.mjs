/*
 * The least that a durable effect takes in a design of this shape: a generator steps; the effect has an id by hash; its
 * record and the receipt of the one before are one frame, which is encoded, hashed and chained; the frame is committed; then
 * the adapter runs. No gate, no leaves, no schemas beyond one number. It stands as the floor below Reprise's effects, and
 * `commit` alone as the floor below it.
 */
import crypto from 'node:crypto';
import { createRequire } from 'node:module';
import { Encoder } from 'cbor-x';

const codec = new Encoder({ useRecords: false });
const sha256 = (bytes) => crypto.hash('sha256', bytes, 'buffer');

/**
 * What commits a frame with one synced statement, as durable as the store's own.
 *
 * @param {string} file where the database is made
 * @returns {{ commit: (head: Uint8Array, bytes: Uint8Array) => void, close: () => void }}
 */
export function statement(file) {
  const db = open(file);
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'wal_autocheckpoint = 4096'])
    db.prepare(`PRAGMA ${pragma}`).get();
  db.exec('CREATE TABLE frame (seq INTEGER PRIMARY KEY, head BLOB NOT NULL, bytes BLOB NOT NULL)');
  const insert = db.prepare('INSERT INTO frame VALUES (?, ?, ?)');
  let seq = 0;
  return { commit: (head, bytes) => void insert.run(++seq, head, bytes), close: () => db.close() };
}

/** The driver that the store takes on this Node. */
function open(file) {
  const builtin = process.getBuiltinModule?.('node:sqlite');
  if (builtin !== undefined) return new builtin.DatabaseSync(file);
  const Database = createRequire(import.meta.url)('libsql');
  return new Database(file);
}

/** Commits as many frames of the size of an effect's as there are effects, and does nothing else. */
export function commits(commit) {
  const head = sha256('head');
  const bytes = new Uint8Array(480).map((_, at) => (at * 31) & 255);
  return async (count) => {
    for (let n = 0; n < count; n++) {
      await new Promise(setImmediate);
      commit(head, bytes);
    }
  };
}

function* plan(count) {
  let sum = 0;
  for (let n = 0; n < count; n++) sum += (yield { n }).payload.n;
  return sum;
}

const adapter = async ({ n }) => ({ status: 'ok', payload: { n } });

function normal({ n }) {
  if (!Number.isSafeInteger(n)) throw new Error('not a number');
  return { n };
}

/** Effects one after the other, each after the commit of the receipt of the one before. */
export function leastLoop(commit) {
  let head = sha256('genesis');
  let seq = 0;
  const open = new Map();
  return async (count) => {
    const running = plan(count);
    let receipt = null;
    for (let step = running.next(); !step.done; step = running.next(receipt)) {
      const params = normal(step.value);
      const place = { cell: ['bench/Session@1', 's'], plan: 'bench/work@1', ordinal: 1, emission: seq };
      const id = sha256(codec.encode({ ...place, kind: 'bench.note@1', params })).toString('hex');
      open.set(id, params);
      const effect = ['effect', id, place, 'bench.note@1', params, 'at_most_once', 1, null];
      const state = ['plan', { waits: id, resumed: sha256(codec.encode(receipt)) }];
      const bytes = codec.encode({ seq: ++seq, at: 1e12, records: [['receipt', receipt], effect, state] });
      head = sha256(Buffer.concat([head, sha256(bytes)]));
      await new Promise(setImmediate);
      commit(head, bytes);
      const { status, payload } = await adapter(params);
      receipt = { adapter: 'noter', attempts: 1, status, payload: normal(payload) };
      open.delete(id);
    }
  };
}
