/** Whether anything ran twice, or may have: effects that were started again, unknown outcomes, outcomes that came late. */

import type { JournalRecord } from '@reprise/contracts';
import { isWhole, type OptionKind } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { type OpenEffect, OpenEffectsFold, snapshotBefore } from '@reprise/kernel/inspect';
import { readFrame } from '@reprise/kernel/store';
import { wordsOfEffect } from '../names/effects.js';
import { WorldNames } from '../names/world-names.js';
import { frameOf } from '../page/frames.js';
import { type PageOptions, pageOf } from '../page/page.js';
import { AT_OPTIONS, PAGE_OPTIONS, requireQuestion } from '../page/require.js';
import type { AttemptRow, AttemptsReport } from './report.js';

/** Which frames are read for what may have run twice. */
export interface AttemptsOfOptions extends PageOptions {
  /** The first frame that counts; `snapshot` for the newest snapshot, with what is open there. All when absent. */
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
 * Lists the effects that were started more than once, whose outcome is unknown, or whose outcome came after they were settled;
 * the oldest first.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame, or no row has the cursor
 * @example const { rows } = await attemptsOf(store, { from: 'snapshot' })
 */
export async function attemptsOf(store: ReadonlyStore, options: AttemptsOfOptions = {}): Promise<AttemptsReport> {
  requireQuestion('attemptsOf', store, options, KNOWN);
  const { from = 0, at, signal } = options;
  const last = await frameOf(store, at);
  const snapshot = await snapshotBefore(store, from === 'snapshot' ? last : from - 1);
  const first = from === 'snapshot' ? Math.max(snapshot.seq, 0) : from;
  const names = new WorldNames();
  await names.load(snapshot);
  const fold = new AttemptsFold(new OpenEffectsFold(snapshot.effects), first);
  for await (const frame of store.journal.read(snapshot.seq + 1, last)) {
    signal?.throwIfAborted();
    const { all } = readFrame(frame.bytes, frame.seq);
    for (const record of all) names.take(record);
    fold.take(frame.seq, frame.at, all);
  }
  const { items, next } = pageOf(fold.found, options, ({ effect, kind }) => `${kind} ${effect.effect}`);
  const rows: AttemptRow[] = [];
  for (const { effect, ...row } of items) {
    const of = names.ownerOf([effect.plan[0], effect.plan[1]]);
    const what = await wordsOfEffect(store, effect);
    rows.push({ effect: effect.effect, of, what, guarantee: effect.guarantee, ...row });
  }
  return { from: first, frame: last, rows, next };
}

type Found = Pick<AttemptRow, 'kind' | 'attempts' | 'place' | 'outcome' | 'reported'> & { readonly effect: OpenEffect };

/** Finds the rows in the records of frames. */
class AttemptsFold {
  readonly #rows = new Map<string, Found>();
  /** Settled effects whose adapter may still report. */
  readonly #unanswered = new Map<string, OpenEffect>();

  constructor(
    private readonly open: OpenEffectsFold,
    private readonly first: number,
  ) {
    for (const effect of open.open.values()) if (effect.attempt > 1) this.#again(effect, { frame: first, at: 0 });
  }

  get found(): readonly Found[] {
    return [...this.#rows.values()].sort((a, b) => a.place.frame - b.place.frame);
  }

  take(frame: number, at: number, records: readonly JournalRecord[]): void {
    const before = new Map(records.flatMap((record) => knownIn(record, this.open.open)));
    this.open.take(frame, records);
    const place = { frame, at };
    for (const record of records) {
      if (!('effect' in record) || record.effect === undefined || record.kind === 'denial') continue;
      const effect = this.open.open.get(record.effect) ?? before.get(record.effect);
      if (record.kind === 'attempt' && effect !== undefined && record.attempt > 1) this.#again(effect, place);
      if (record.kind === 'receipt')
        this.#ended(
          record.effect,
          effect,
          { status: record.receipt.status, isOpen: record.unanswered === true },
          place,
        );
      if (record.kind === 'settled') this.#ended(record.effect, effect, { status: record.status, isOpen: true }, place);
      if (record.kind === 'late' && record.status !== record.settled) this.#late(record, place);
    }
  }

  #again(effect: OpenEffect, place: Found['place']): void {
    this.#put({ effect, kind: 'again', attempts: effect.attempt, place, outcome: null, reported: null });
  }

  /** @param end the status, and whether the adapter may still report an outcome */
  #ended(
    id: string,
    effect: OpenEffect | undefined,
    { status, isOpen }: { readonly status: string; readonly isOpen: boolean },
    place: Found['place'],
  ): void {
    const again = this.#rows.get(`again ${id}`);
    if (again?.outcome === null) this.#rows.set(`again ${id}`, { ...again, outcome: status });
    if (effect === undefined || effect.attempt === 0) return;
    if (isOpen) this.#unanswered.set(id, effect);
    if (status === 'outcome_unknown')
      this.#put({ effect, kind: 'unknown', attempts: effect.attempt, place, outcome: status, reported: null });
  }

  #late(
    { effect: id, status, settled }: Extract<JournalRecord, { readonly kind: 'late' }>,
    place: Found['place'],
  ): void {
    const effect = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    if (effect !== undefined)
      this.#put({ effect, kind: 'late', attempts: effect.attempt, place, outcome: settled, reported: status });
  }

  #put(row: Found): void {
    if (row.place.frame >= this.first) this.#rows.set(`${row.kind} ${row.effect.effect}`, row);
  }
}

function knownIn(record: JournalRecord, open: ReadonlyMap<string, OpenEffect>): readonly [string, OpenEffect][] {
  const id = 'effect' in record ? record.effect : undefined;
  const effect = id === undefined ? undefined : open.get(id);
  return id === undefined || effect === undefined ? [] : [[id, effect]];
}
