/** Whether anything ran twice, or may have: effects that were started again, unknown outcomes, outcomes that came late. */

import type { JournalRecord } from '@reprise/contracts';
import { isWhole, type OptionKind, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { type OpenEffect, OpenEffectsFold, type SnapshotLeaves, snapshotBefore } from '@reprise/kernel/inspect';
import { wordsOfEffect } from '../names/effects.js';
import { WorldNames } from '../names/world-names.js';
import { frameOf } from '../page/frames.js';
import { type PageOptions, pageOf } from '../page/page.js';
import { AT_OPTIONS, PAGE_OPTIONS, requireQuestion } from '../page/require.js';
import { skimFrames } from '../skim/index.js';
import type { AttemptRow, AttemptsReport } from './report.js';

/** Which frames are read for what may have run twice. */
export interface AttemptsOfOptions extends PageOptions {
  /** The first frame that counts; `snapshot` for the one behind the newest snapshot. All when absent. What is open there counts as well. */
  readonly from?: number | 'snapshot';
  /** The last frame that counts; the newest one when absent. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

const KNOWN: Readonly<Record<keyof AttemptsOfOptions, true | OptionKind>> = {
  ...{ ...AT_OPTIONS, ...PAGE_OPTIONS },
  from: { expected: 'a frame, or `snapshot`', fits: (from) => from === 'snapshot' || isWhole(from) },
};

/**
 * Lists the effects that were started more than once, whose outcome is unknown, or of which another outcome was reported after
 * they had ended; the oldest first. The rows are those of the whole journal that belong to the frames, wherever reading begins:
 * frames before `from` are read again only for the effect of a late outcome that no snapshot holds.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame, or no row has the cursor
 * @example const { rows } = await attemptsOf(store, { from: 'snapshot' })
 */
export async function attemptsOf(store: ReadonlyStore, options: AttemptsOfOptions = {}): Promise<AttemptsReport> {
  requireQuestion('attemptsOf', store, options, KNOWN);
  const { from = 0, at, signal } = options;
  const last = await frameOf(store, at);
  if (from !== 'snapshot') requireBegin(from, last);
  const snapshot = await snapshotBefore(store, from === 'snapshot' ? last : from - 1);
  const first = from === 'snapshot' ? snapshot.seq + 1 : from;
  const names = new WorldNames();
  await names.load(snapshot);
  const fold = new AttemptsFold(snapshot, first);
  await skimFrames(store, { from: snapshot.seq + 1, to: last, signal }, (seq, at, records) => {
    for (const record of records) names.take(record);
    fold.take(seq, at, records);
  });
  if (fold.unnamed.size > 0) fold.name(await endedAmong(fold.unnamed, store, last, signal));
  const { items, next } = pageOf(fold.found, options, ({ effect, kind }) => `${kind} ${effect.effect}`);
  return { from: first, frame: last, rows: await attemptRows(store, items, names), next };
}

/** Lays out what a fold has found. */
export async function attemptRows(
  store: ReadonlyStore,
  found: AttemptsFold['found'],
  names: WorldNames,
): Promise<AttemptRow[]> {
  const rows: AttemptRow[] = [];
  for (const { effect, order: _, ...row } of found) {
    const of = names.ownerOf([effect.plan[0], effect.plan[1]]);
    const what = await wordsOfEffect(store, effect);
    rows.push({ effect: effect.effect, of, what, guarantee: effect.guarantee, ...row });
  }
  return rows;
}

/** A reader that has all frames may ask for those behind the last one. */
function requireBegin(from: number, last: number): void {
  if (from <= last + 1) return;
  throw new RepriseError('invalid_argument', 'no frame is left to read', {
    where: 'from',
    expected: `a frame from 0 to ${last + 1}`,
    actual: from,
  });
}

/** What some effects were when they ended, from the first frame on. */
async function endedAmong(
  ids: ReadonlySet<string>,
  store: ReadonlyStore,
  last: number,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, OpenEffect>> {
  const ended = new Map<string, OpenEffect>();
  const open = new OpenEffectsFold();
  await skimFrames(store, { from: 0, to: last, signal }, (seq, _, records) => {
    for (const { record, effect } of oneByOne(open, seq, records))
      if (effect !== undefined && ids.has(effect.effect) && isEnd(record)) ended.set(effect.effect, effect);
  });
  return ended;
}

type Found = Pick<AttemptRow, 'kind' | 'attempts' | 'place' | 'outcome' | 'reported'> & {
  readonly effect: OpenEffect;
  /** The place of its record in the frame. */
  readonly order: number;
};

type Late = Extract<JournalRecord, { readonly kind: 'late' }>;

/** Finds the rows in the records of frames. */
export class AttemptsFold {
  readonly #rows = new Map<string, Found>();
  readonly #open: OpenEffectsFold;
  /** Ended effects whose adapter may still report. */
  readonly #ended: Map<string, OpenEffect>;
  /** Late outcomes of effects that ended before the snapshot, or that nothing was to be reported of. */
  readonly #unnamed = new Map<string, (effect: OpenEffect) => void>();

  constructor(
    snapshot: SnapshotLeaves,
    private readonly first: number,
  ) {
    this.#open = new OpenEffectsFold(snapshot.effects);
    this.#ended = new Map(new OpenEffectsFold(snapshot.late).open);
    for (const effect of this.#open.open.values()) if (effect.attempt > 1) this.#again(effect, null, 0);
  }

  get found(): readonly Found[] {
    return [...this.#rows.values()].sort(compareFound);
  }

  /** The effects of late outcomes that the frames so far do not describe. */
  get unnamed(): ReadonlySet<string> {
    return new Set(this.#unnamed.keys());
  }

  /** Adds the rows of late outcomes whose effects were looked up. */
  name(effects: ReadonlyMap<string, OpenEffect>): void {
    for (const [id, add] of this.#unnamed) {
      const effect = effects.get(id);
      if (effect !== undefined) add(effect);
    }
  }

  take(frame: number, at: number, records: readonly JournalRecord[]): void {
    const place = frame < this.first ? null : { frame, at };
    for (const { record, effect, order } of oneByOne(this.#open, frame, records)) {
      if (record.kind === 'attempt' && effect !== undefined && record.attempt > 1)
        this.#again({ ...effect, attempt: record.attempt }, place, order);
      if (effect !== undefined && isEnd(record)) this.#end(record, effect, place, order);
      if (record.kind === 'late' && record.status !== record.settled && place !== null)
        this.#late(record, place, order);
    }
  }

  #again(effect: OpenEffect, place: Found['place'], order: number): void {
    this.#put({ effect, kind: 'again', attempts: effect.attempt, place, order, outcome: null, reported: null });
  }

  #end(record: End, effect: OpenEffect, place: Found['place'], order: number): void {
    const status = record.kind === 'receipt' ? record.receipt.status : record.status;
    const key = `again ${effect.effect}`;
    const again = this.#rows.get(key);
    if (place === null) this.#rows.delete(key);
    else if (again !== undefined) this.#rows.set(key, { ...again, outcome: status });
    if (effect.attempt === 0) return;
    if (record.kind === 'settled' || record.unanswered === true) this.#ended.set(effect.effect, effect);
    if (status === 'outcome_unknown' && place !== null)
      this.#put({ effect, kind: 'unknown', attempts: effect.attempt, place, order, outcome: status, reported: null });
  }

  #late({ effect: id, status, settled }: Late, place: Found['place'], order: number): void {
    const add = (effect: OpenEffect): void => {
      const row = { effect, kind: 'late', attempts: effect.attempt, place, order } as const;
      if (effect.attempt > 0) this.#put({ ...row, outcome: settled, reported: status });
    };
    const effect = this.#ended.get(id);
    if (effect === undefined) this.#unnamed.set(id, add);
    else add(effect);
  }

  #put(row: Found): void {
    this.#rows.set(`${row.kind} ${row.effect.effect}`, row);
  }
}

/** Those before the first frame stand first, in the order in which they were emitted. */
function compareFound(a: Found, b: Found): number {
  if (a.place !== null && b.place !== null) return a.place.frame - b.place.frame || a.order - b.order;
  if (a.place !== null || b.place !== null) return a.place === null ? -1 : 1;
  return a.effect.frame - b.effect.frame || (a.effect.effect < b.effect.effect ? -1 : 1);
}

type End = Extract<JournalRecord, { readonly kind: 'receipt' | 'settled' }>;

function isEnd(record: JournalRecord): record is End {
  return record.kind === 'receipt' || record.kind === 'settled';
}

interface Step {
  readonly record: JournalRecord;
  /** The open effect that it names, as it was before the record. */
  readonly effect: OpenEffect | undefined;
  readonly order: number;
}

/** Takes the records of a frame one by one, so that an effect is known that is emitted and ends in the same frame. */
function* oneByOne(open: OpenEffectsFold, frame: number, records: readonly JournalRecord[]): Generator<Step> {
  for (const [order, record] of records.entries()) {
    const id = 'effect' in record ? record.effect : undefined;
    yield { record, effect: id === undefined ? undefined : open.open.get(id), order };
    const isRefused = record.kind === 'cell_command' && records[order + 1]?.kind === 'denial';
    if (!isRefused) open.take(frame, [record]);
  }
}
