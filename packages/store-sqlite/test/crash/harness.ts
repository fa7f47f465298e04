/**
 * Runs the survey in processes that are killed, and checks the promises on what they leave.
 *
 * Invariants checked of every world, whatever was killed when
 * C1  A rerun that is left alone completes, and the world replays with the app and nothing else.
 * C2  Every head that any process was acknowledged is in the final journal.
 * C3  No `at_most_once` effect was executed twice, counted outside the processes.
 * C4  An `at_most_once` effect that began and did not end has the receipt `outcome_unknown`, stands so in the
 *     transcript, and the model was told; of a quarantined receipt, whose cascade is withheld, no plan ever heard.
 * C5  No effect is open in a world that rests, and each has exactly one receipt.
 * C6  A fact is quarantined only when two processes, one after the other, died with a note of exactly that fact; any
 *     other kill from outside says nothing against the fact that was being folded.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { agentApp, SESSION_REDUCER, type TranscriptItem } from '@reprise/agent';
import type { JournalRecord } from '@reprise/contracts';
import { readFrame, verifyStore, type WorldAt, worldAt } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import { bundle } from '../../../../conformance/bundle.js';
import { Latch } from '../../../../conformance/scenarios/latch.js';
import { type Exit, HANG_MS, startChild } from './child.js';
import { type Opening, type Quarantined, quarantinedOf, wronglyQuarantined } from './quarantine.js';
import type { Blow, Moment } from './steps.js';
import type { Done, Job } from './survey-child.js';

/** The files of the folder that is surveyed; the n-th was last changed n days after 1 January 2025. */
const FIXTURE: Readonly<Record<string, string>> = {
  'README.md': '# Lantern\n\nKeeps a light on.\n',
  'package.json': '{"name":"lantern","description":"A light"}\n',
  'src/wick.ts': 'export const wick = 1; // TODO trim\n',
  'src/deep/oil.ts': `${'// oil\n'.repeat(120)}// FIXME leaks\n`,
  'docs/guide.md': 'Light it.\n',
  'test/wick.test.ts': '',
};

/** A folder for everything of a run of the harness: the fixture, the program, the worlds. */
export interface Bench {
  readonly root: string;
  /** The surveyed folder. */
  readonly folder: string;
  /** The child as one file of plain JavaScript: starting it costs a fraction of starting TypeScript. */
  readonly program: string;
  dispose(): void;
}

/** Sets a bench up. */
export async function makeBench(): Promise<Bench> {
  const root = mkdtempSync(path.join(tmpdir(), 'reprise-crash-'));
  const folder = path.join(root, 'folder');
  Object.entries(FIXTURE).forEach(([name, text], i) => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    const when = Date.UTC(2025, 0, 1 + i) / 1000;
    utimesSync(file, when, when);
  });
  const program = path.join(root, 'survey-child.mjs');
  await bundle(fileURLToPath(new URL('survey-child.ts', import.meta.url)), program);
  return { root, folder, program, dispose: () => rmSync(root, { recursive: true, force: true }) };
}

/** One surveyed world, with the output and the actions of its processes. */
export class Trial {
  readonly out: string;
  readonly ledger: string;
  readonly acks: string[] = [];
  /** The state of the world at each opening. */
  readonly openings: Opening[] = [];
  readonly told = new Set<string>();
  /** The steps that the blows hit. */
  readonly moments: string[] = [];

  constructor(
    private readonly bench: Bench,
    readonly name: string,
    /** Every tool is one that may happen once. */
    private readonly once = false,
  ) {
    this.out = path.join(bench.root, name);
    this.ledger = path.join(bench.root, `${name}.ledger`);
    mkdirSync(this.out);
    writeFileSync(this.ledger, '');
  }

  /** The world's file. */
  get db(): string {
    return path.join(this.out, 'world.db');
  }

  /** Runs the survey until it ends, kills itself at a moment, or is killed after a time. */
  async run(how: { moment?: Moment; killAfterMs?: number } = {}): Promise<Done | undefined> {
    const child = this.start(how.moment === undefined ? {} : { moment: how.moment });
    if (how.killAfterMs !== undefined) {
      await Promise.race([sleep(how.killAfterMs), child.ended]);
      child.signal('SIGKILL');
    }
    return child.ended;
  }

  /** Starts the survey. `moment` resolves just before the blow; `ended` with how it ended, or undefined when it was killed. */
  start(how: { moment?: Moment; blow?: Blow } = {}) {
    const job: Job = { folder: this.bench.folder, out: this.out, ledger: this.ledger, once: this.once, ...how };
    const moment = new Latch();
    let said = '';
    const child = startChild(process.execPath, [this.bench.program, JSON.stringify(job)], (line) => {
      said = this.#hear(line, moment) ?? said;
    });
    const ended = child.exit.then((exit) => this.#endOf(exit, said));
    return { ...child, moment: moment.opened, ended };
  }

  /** Notes a line of a process. @returns what it came to, when the line says so */
  #hear(line: string, moment: Latch): string | undefined {
    const [word, first = '', second = ''] = line.split(' ');
    if (word === 'ack') this.acks.push(second);
    else if (word === 'found') this.openings.push(JSON.parse(line.slice('found '.length)) as Opening);
    else if (word === 'told') this.told.add(first);
    else if (word === 'moment') {
      this.moments.push(line);
      moment.open();
    } else return word === 'done' ? line.slice('done '.length) : line;
    return undefined;
  }

  #endOf({ code, signal, hung, complaints }: Exit, said: string): Done | undefined {
    assert.ok(!hung, `${this.name}: C1: a survey did not end within ${HANG_MS} ms`);
    if (signal === 'SIGKILL') return undefined;
    const how = `ended with ${code ?? signal}: ${said}\n${complaints}`;
    assert.equal(code, 0, `${this.name}: a survey that nobody killed ${how}`);
    return JSON.parse(said) as Done;
  }

  /** Runs it to its end, undisturbed, and checks everything. */
  async finish(): Promise<Finished> {
    const done = await this.run();
    assert.ok(done !== undefined, `${this.name}: the last rerun was killed from outside`);
    return this.check(done);
  }

  /** Checks the invariants of an idle world. */
  async check(done: Done): Promise<Finished> {
    const store = await sqlite(this.db).openReadonly();
    try {
      const report = await verifyStore(store, { app: agentApp, ...lastOf(this.acks) });
      assert.equal(report.replayed, report.frames, `${this.name}: C1`);
      const heads = new Set<string>();
      const records: JournalRecord[] = [];
      const quarantined: Quarantined[] = [];
      for await (const stored of store.journal.read(0)) {
        heads.add(stored.head);
        const { all } = readFrame(stored.bytes, stored.seq);
        records.push(...all);
        quarantined.push(...quarantinedOf(stored.seq, all));
      }
      for (const ack of this.acks) assert.ok(heads.has(ack), `${this.name}: C2: acknowledged ${ack} is not there`);
      assert.deepEqual(wronglyQuarantined(this.openings, quarantined), [], `${this.name}: C6`);
      // A run whose fact was quarantined fails and says so; the one that is begun after it knows nothing of it.
      const stop = quarantined.length > 0 && done.resumed ? 'Failed' : 'Completed';
      assert.equal(done.stop, stop, `${this.name}: C1`);
      const world = await worldAt(store, agentApp, report.head.seq);
      const unknown = this.#checkEffects(records, await transcriptsOf(records, world));
      if (done.text.includes('wrote the survey to')) this.#checkReport();
      return { frames: report.frames, unknown, repeated: this.#repeated() };
    } finally {
      await store.close();
    }
  }

  #checkEffects(records: readonly JournalRecord[], transcripts: Transcripts): number {
    const begun = this.#ledger('start').filter(({ guarantee }) => guarantee === 'at_most_once');
    const keys = begun.map(({ key }) => key);
    assert.equal(new Set(keys).size, keys.length, `${this.name}: C3: executed twice: ${keys.join(' ')}`);
    const ended = new Set(this.#ledger('end').map(({ key }) => key));
    const receipts = new Map<string, string>();
    const unheard = new Set<string>();
    for (const record of records) {
      if (record.kind !== 'receipt') continue;
      assert.ok(!receipts.has(record.effect), `${this.name}: C5: two receipts for ${record.effect}`);
      receipts.set(record.effect, record.receipt.status);
      if (record.quarantined === true) unheard.add(record.effect);
    }
    const effects = records.filter((record) => record.kind === 'effect');
    for (const { effect } of effects) assert.ok(receipts.has(effect), `${this.name}: C5: ${effect} has no receipt`);
    for (const key of keys) {
      if (!ended.has(key)) assert.equal(receipts.get(key), 'outcome_unknown', `${this.name}: C4: ${key}`);
    }
    let unknown = 0;
    for (const { effect, params, plan } of effects) {
      if (receipts.get(effect) !== 'outcome_unknown' || unheard.has(effect)) continue;
      unknown++;
      const { call_id } = params as unknown as { call_id: string };
      const item = transcripts.get(plan[1])?.find((one) => one.role === 'tool' && one.call_id === call_id);
      assert.ok(item?.role === 'tool', `${this.name}: C4: ${call_id} is not in the transcript`);
      assert.deepEqual(item.non_execution, { kind: 'outcome_unknown' }, `${this.name}: C4`);
      assert.ok(this.told.has(call_id), `${this.name}: C4: the model was not told of ${call_id}`);
    }
    return unknown;
  }

  #checkReport(): void {
    const report = path.join(this.out, 'SURVEY.md');
    assert.ok(existsSync(report), `${this.name}: the model reports that it wrote a report, but the file is missing`);
    const text = readFileSync(report, 'utf8');
    assert.ok(
      text.startsWith('# Survey\n') && text.endsWith('not by a language model.\n'),
      `${this.name}: half a report`,
    );
  }

  /** Idempotent calls that ran again: allowed, and a sign that kills fell inside them. */
  #repeated(): number {
    const keys = this.#ledger('start').map(({ key }) => key);
    return keys.length - new Set(keys).size;
  }

  #ledger(what: 'start' | 'end'): { key: string; guarantee: string; tool: string }[] {
    return readFileSync(this.ledger, 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([word]) => word === what)
      .map(([, key = '', guarantee = '', tool = '']) => ({ key, guarantee, tool }));
  }

  /** Removes the world. */
  dispose(): void {
    rmSync(this.out, { recursive: true, force: true });
    rmSync(this.ledger, { force: true });
  }
}

/** Transcripts by session key. A survey begun after another ended has a session of its own, and may repeat its call ids. */
type Transcripts = ReadonlyMap<string, readonly TranscriptItem[]>;

async function transcriptsOf(records: readonly JournalRecord[], world: WorldAt): Promise<Transcripts> {
  const transcripts = new Map<string, TranscriptItem[]>();
  for (const record of records) {
    if (record.kind !== 'effect' || transcripts.has(record.plan[1])) continue;
    const items: TranscriptItem[] = [];
    for await (const item of world.log([SESSION_REDUCER, record.plan[1]], 'transcript')) {
      items.push(item as unknown as TranscriptItem);
    }
    transcripts.set(record.plan[1], items);
  }
  return transcripts;
}

/** The results of a checked world. */
export interface Finished {
  readonly frames: number;
  /** Calls with unknown outcomes. */
  readonly unknown: number;
  readonly repeated: number;
}

function lastOf(acks: readonly string[]): { expect?: string } {
  const last = acks.at(-1);
  return last === undefined ? {} : { expect: last };
}
