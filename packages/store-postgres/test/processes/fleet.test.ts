/** Real processes that share a directory: one that set timers ends, and another one, which has no world, wakes them. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { JournalRecord } from '@reprise/contracts';
import { readFrame } from '@reprise/kernel';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundle } from '../../../../conformance/bundle.js';
import { stepOf } from '../../../../conformance/part.js';
import { postgres } from '../../src/index.js';
import { describePostgres } from '../describe-postgres.js';

const TTL_MS = 3_000;
const WORLDS = 40 / stepOf(4);

/** When the timers are due, from the moment in which they are set: their host has died by then. */
const IN_MS = 4_000;

describePostgres('a host without a world beside one that ends', (own) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reprise-fleet-'));
  const program = path.join(folder, 'fleet-child.mjs');
  const children: Child[] = [];
  beforeAll(() => bundle(source('fleet-child.ts'), program));
  afterAll(() => {
    for (const { process } of children) process.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (file: string, directory: string, worlds: number): Child => {
    const args = [file, own.url, directory, String(TTL_MS), String(worlds), String(IN_MS)];
    const child = childOf(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }));
    children.push(child);
    return child;
  };

  async function twoHosts(file = program) {
    const directory = own.fresh();
    const b = start(file, directory, 0);
    await b.ready;
    const a = start(program, directory, WORLDS);
    await a.ready;
    return { directory, a, b };
  }

  async function sql(statement: string): Promise<readonly pg.QueryResultRow[]> {
    const client = new pg.Client({ connectionString: own.url });
    await client.connect();
    const { rows } = await client.query(statement);
    await client.end();
    return rows;
  }

  /** How late the timers were that have fired, in milliseconds. */
  async function lateness(directory: string): Promise<readonly number[]> {
    await using database = postgres(own.url);
    const late: number[] = [];
    for (let n = 0; n < WORLDS; n++) {
      const reader = await database.world(`${directory}-${n}`).openReadonly();
      for await (const { bytes, seq } of reader.journal.read(0))
        for (const record of readFrame(bytes, seq).all as readonly JournalRecord[])
          if (record.kind === 'timer') late.push(record.at - record.due);
      await reader.close();
    }
    return late;
  }

  const allFired = (directory: string) => expect.poll(async () => (await lateness(directory)).length);

  it('all timers of a host that is killed on this machine fire once at the other', async () => {
    const { directory, a, b } = await twoHosts();
    a.process.kill('SIGKILL');
    await allFired(directory).toBeGreaterThanOrEqual(WORLDS);
    await quiet(directory);
    expect([(await lateness(directory)).length, b.errors]).toEqual([WORLDS, []]);
    note('killed here', await lateness(directory));
  });

  it('all timers of a host that dies on another machine fire once at the other, when its lease is over', async () => {
    const { directory, a, b } = await twoHosts();
    await sql(`UPDATE reprise.host SET process = 'elsewhere' WHERE NOT closed AND id IN
      (SELECT r.owner FROM reprise.directory_row r JOIN reprise.directory d ON d.id = r.directory WHERE d.name = '${directory}')`);
    a.process.kill('SIGKILL');
    await allFired(directory).toBeGreaterThanOrEqual(WORLDS);
    await quiet(directory);
    expect([(await lateness(directory)).length, b.errors]).toEqual([WORLDS, []]);
    note('killed elsewhere', await lateness(directory));
  });

  it('all timers of a host that is stopped fire once, also when it goes on', async () => {
    const { directory, a, b } = await twoHosts();
    a.process.kill('SIGSTOP');
    await allFired(directory).toBeGreaterThanOrEqual(WORLDS);
    a.process.kill('SIGCONT');
    await quiet(directory);
    expect([(await lateness(directory)).length, b.errors]).toEqual([WORLDS, []]);
  });

  it('a host that is told to end leaves its worlds to the other', async () => {
    const { directory, a, b } = await twoHosts();
    a.process.kill('SIGTERM');
    await a.ended;
    await allFired(directory).toBeGreaterThanOrEqual(WORLDS);
    expect([(await lateness(directory)).length, b.errors]).toEqual([WORLDS, []]);
    note('told to end', await lateness(directory));
  });

  it('mutant: a host that adopts nothing and looks only at what it knows misses them', async () => {
    const file = path.join(folder, 'idle.mjs');
    await bundle(source('fleet-child.ts'), file, {
      planted: {
        file: source('../../../kernel/src/serve/host/waker.ts'),
        from: 'if (directory.shared !== undefined) await this.#adopt(directory.shared);',
        to: '',
      },
    });
    const { directory, a } = await twoHosts(file);
    a.process.kill('SIGKILL');
    await pause(IN_MS + 2 * TTL_MS);
    expect((await lateness(directory)).length).toBeLessThan(WORLDS); // a busy machine may have fired some before the kill
  });

  /** Until every world of the directory is closed or has an owner that lives, and nothing is due. */
  async function quiet(directory: string): Promise<void> {
    await expect
      .poll(
        async () =>
          (
            await sql(
              `SELECT 1 FROM reprise.directory_row r JOIN reprise.directory d ON d.id = r.directory
               LEFT JOIN reprise.host h ON h.id = r.owner
               WHERE d.name = '${directory}' AND (r.wake IS NOT NULL AND NOT r.open OR r.open AND (h.id IS NULL OR h.closed))`,
            )
          ).length,
      )
      .toBe(0);
  }
});

interface Child {
  readonly process: ChildProcess;
  readonly ready: Promise<void>;
  readonly ended: Promise<unknown>;
  readonly errors: readonly string[];
}

function childOf(process: ChildProcess): Child {
  const errors: string[] = [];
  const ended = new Promise((resolve) => process.once('exit', resolve));
  const ready = new Promise<void>((resolve, reject) => {
    createInterface({ input: process.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (line === 'ready') resolve();
      else errors.push(line);
    });
    process.once('exit', () => reject(new Error(`a host ended before it was ready: ${errors.join('; ')}`)));
  });
  return { process, ready, ended, errors };
}

/** The figures of a run, for readers of its log. */
function note(what: string, late: readonly number[]): void {
  console.info(`${what}: ${late.length} timers, at most ${Math.max(...late)} ms late, lease ${TTL_MS} ms`);
}

function source(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
