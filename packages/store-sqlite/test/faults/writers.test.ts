/**
 * Two real processes and one file, reached by every way by which a second writer once came in, or a first one went on
 * into a file that was gone. The outside counts what was done; every process says what it was told.
 */
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readFrame, verifyStore } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundle } from '../../../../conformance/bundle.js';
import { startChild } from '../crash/child.js';
import { app, type HolderJob } from './holder-child.js';

/** More than a process sends while another begins and ends. */
const MESSAGES = 5_000;

let bench: string;
let program: string;
let place: string;
let db: string;
let ledger: string;

beforeAll(async () => {
  bench = mkdtempSync(path.join(tmpdir(), 'reprise-writers-'));
  program = path.join(bench, 'holder-child.mjs');
  await bundle(fileURLToPath(new URL('holder-child.ts', import.meta.url)), program);
});
afterAll(() => rmSync(bench, { recursive: true, force: true }));

beforeEach(() => {
  place = mkdtempSync(path.join(bench, 'place-'));
  mkdirSync(path.join(place, 'real'));
  db = path.join(place, 'real', 'w.db');
  ledger = path.join(place, 'ledger');
  writeFileSync(ledger, '');
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

/** A process: what it was told is acknowledged, and how it ended. */
function start(at: string, from: number, count = MESSAGES) {
  const job: HolderJob = { db: at, ledger, from, count };
  const acks: number[] = [];
  let said = '';
  let heard: () => void = () => undefined;
  const process_ = startChild(globalThis.process.execPath, [program, JSON.stringify(job)], (line) => {
    const [word, n] = line.split(' ');
    if (word === 'ack') acks.push(Number(n));
    else said = line;
    heard();
  });
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      heard = () => {
        if (holds()) resolve();
      };
      heard();
      void process_.exit.then(() => reject(new Error(`it ended: ${said}`)));
    });
  return { acks, until, said: () => said, exit: process_.exit, signal: process_.signal };
}

function withoutLock(): string {
  rmSync(`${db}-lock`);
  return db;
}

/** The messages that a world has; it verifies. */
async function messagesIn(file: string): Promise<number[]> {
  const store = await sqlite(file).openReadonly();
  try {
    await verifyStore(store, { app });
    const found: number[] = [];
    for await (const { bytes, seq } of store.journal.read(0)) {
      for (const record of readFrame(bytes, seq).all) {
        if (record.kind === 'request') found.push(Number(/^message (\d+)$/.exec(record.id)?.[1]));
      }
    }
    return found;
  } finally {
    await store.close();
  }
}

/** How often the outside was reached, by message. */
function effects(): Map<number, number> {
  const counts = new Map<number, number>();
  for (const line of readFileSync(ledger, 'utf8').split('\n')) {
    if (line !== '') counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1);
  }
  return counts;
}

const twice = (): number[] => [...effects()].filter(([, count]) => count > 1).map(([n]) => n);

function link(to: string, name: string): string {
  const at = path.join(place, name);
  symlinkSync(to, at);
  return at;
}

describe('while one process writes, a second one', () => {
  it.each<[string, () => string, string]>([
    ['by a link to the file', () => link(db, 'current.db'), 'world_locked'],
    ['by a link to its folder', () => path.join(link(path.dirname(db), 'folder'), 'w.db'), 'world_locked'],
    ['after the lock was deleted', withoutLock, 'world_locked'],
  ])('%s is refused; nothing is lost, nothing done twice [JRN-28]', async (_, nameOf, code) => {
    const first = start(db, 0);
    await first.until(() => first.acks.length >= 5);
    const other = nameOf();
    const second = start(other, 1_000, 5);
    await second.exit;
    expect([second.said(), second.acks]).toEqual([`refused ${code}`, []]);
    const before = first.acks.length;
    await first.until(() => first.acks.length > before);
    first.signal('SIGTERM');
    await first.exit;
    expect(first.said()).toBe('rest');
    expect(await messagesIn(other)).toEqual(first.acks);
    expect([...effects().keys()].sort((a, b) => a - b)).toEqual(first.acks);
    expect(twice()).toEqual([]);
  });

  it.each<[string, string, () => string, () => string]>([
    ['a hard link was made', 'world_linked', hardLink, () => db],
    ['file and log were moved', 'world_moved', () => moved(path.join(place, 'v.db')), () => path.join(place, 'v.db')],
    ['the folder was moved', 'world_moved', folderMoved, () => path.join(place, 'elsewhere', 'w.db')],
    ['a copy was put in its place', 'world_moved', () => replaced(), () => path.join(place, 'before.db')],
  ])(
    'when %s, a second process never writes beside the first, which stops as %s; nothing acknowledged is lost, nothing done twice [JRN-29]',
    async (_, code, change, whereOf) => {
      const first = start(db, 0);
      await first.until(() => first.acks.length >= 5);
      const other = change();
      const second = start(other, 1_000, 5);
      await Promise.all([first.exit, second.exit]);
      expect(first.said()).toBe(`refused ${code}`);
      // It may come when the first has stopped already: then the world is its own.
      expect(second.said()).toMatch(/^(rest|refused world_(locked|linked|incomplete|moved))$/);

      if (code === 'world_linked') rmSync(other);
      const file = whereOf();
      const third = start(file, 2_000, 5);
      await third.exit;
      expect([third.said(), third.acks.length]).toEqual(['rest', 5]);
      const found = await messagesIn(file);
      expect([...first.acks, ...second.acks, ...third.acks].filter((n) => !found.includes(n))).toEqual([]);
      expect(new Set(found).size).toBe(found.length);
      expect(twice()).toEqual([]);
    },
  );

  function hardLink(): string {
    const other = path.join(place, 'other.db');
    linkSync(db, other);
    return other;
  }

  function moved(to: string): string {
    for (const side of ['', '-wal', '-shm']) renameSync(`${db}${side}`, `${to}${side}`);
    return to;
  }

  function folderMoved(): string {
    renameSync(path.dirname(db), path.join(place, 'elsewhere'));
    return path.join(place, 'elsewhere', 'w.db');
  }

  /** As an operator restores a copy under a running program. The old files are moved away. */
  function replaced(): string {
    copyFileSync(db, path.join(place, 'copy'));
    moved(path.join(place, 'before.db'));
    renameSync(path.join(place, 'copy'), db);
    return db;
  }

  it('a second process with a copy of the file without its log gets nothing, while the first continues [JRN-30]', async () => {
    const first = start(db, 0);
    await first.until(() => first.acks.length >= 5);
    const copy = path.join(place, 'copy.db');
    copyFileSync(db, copy);
    const second = start(copy, 1_000, 5);
    await second.exit;
    expect([second.said(), second.acks]).toEqual(['refused world_incomplete', []]);
    const before = first.acks.length;
    await first.until(() => first.acks.length > before);
    first.signal('SIGTERM');
    await first.exit;
    expect(await messagesIn(db)).toEqual(first.acks);
    expect(twice()).toEqual([]);
  });

  it('a second process that comes after a kill gets the world when the log exists, and nothing when it was removed [JRN-30]', async () => {
    const first = start(db, 0);
    await first.until(() => first.acks.length >= 8);
    first.signal('SIGKILL');
    await first.exit;
    renameSync(`${db}-wal`, path.join(place, 'log'));
    const second = start(db, 1_000, 5);
    await second.exit;
    expect([second.said(), second.acks]).toEqual(['refused world_incomplete', []]);
    renameSync(path.join(place, 'log'), `${db}-wal`);
    const third = start(db, 2_000, 5);
    await third.exit;
    expect([third.said(), third.acks.length]).toEqual(['rest', 5]);
    const found = await messagesIn(db);
    expect([...first.acks, ...third.acks].filter((n) => !found.includes(n))).toEqual([]);
    expect(twice()).toEqual([]);
  });
});
