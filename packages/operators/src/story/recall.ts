/**
 * What the frames before a window say of effects and sessions that the window names: the emission of an effect that is open,
 * the questions that it asked, the step that its session was at. The newest snapshot before the window says where an effect
 * was emitted, so that its frame is read and not those between; only the frames behind the snapshot are looked through, by
 * their bytes.
 *
 * Invariants
 * RC1  A reader that takes these frames, and then those of the window, makes of the window what one that took every frame makes.
 */
import type { JournalRecord } from '@reprise/contracts';
import type { ReadonlyStore, StoredFrame } from '@reprise/kernel';
import type { SnapshotLeaves } from '@reprise/kernel/inspect';
import { readFrame } from '@reprise/kernel/store';
import { holdsAny } from '../skim/index.js';
import {
  effectNamedBy,
  type Named,
  sessionEmitting,
  sessionPlacedBy,
  sessionStating,
  sessionsMadeIn,
} from './named.js';

/** A frame of the past, with the records that matter. */
interface RecalledFrame extends Omit<StoredFrame, 'bytes'> {
  readonly records: readonly JournalRecord[];
}

/** Finds what stands before a frame about what is named. @returns the frames in order */
export async function recallBefore(
  store: ReadonlyStore,
  from: number,
  named: Named,
  signal?: AbortSignal,
): Promise<readonly RecalledFrame[]> {
  if (from <= 0 || named.effects.size + named.sessions.size === 0) return [];
  // Loaded where it is needed: the last lines of most worlds name nothing older.
  const { snapshotBefore } = await import('@reprise/kernel/inspect');
  const recall = new Recall(store, await snapshotBefore(store, from - 1), from, signal);
  await recall.findEffects(named.effects);
  for (const session of named.sessions) await recall.findPlace(session, from - 1);
  return recall.frames(named.effects);
}

interface DecodedFrame {
  readonly frame: StoredFrame;
  readonly all: readonly JournalRecord[];
}

type EffectLeaf = SnapshotLeaves['effects'] extends ReadonlyMap<string, infer L> ? L : never;

class Recall {
  readonly #frames = new Map<number, DecodedFrame>();
  /** The sessions whose places were looked for. */
  readonly #sessions = new Set<string>();
  /** Effects that were approved before the snapshot. */
  readonly #approved = new Set<string>();

  constructor(
    private readonly store: ReadonlyStore,
    private readonly snapshot: SnapshotLeaves,
    private readonly from: number,
    private readonly signal: AbortSignal | undefined,
  ) {}

  /** Finds the frames about effects: those that were open at the snapshot, and those that were emitted since. */
  async findEffects(effects: ReadonlySet<string>): Promise<void> {
    const since = new Set<string>();
    for (const effect of effects) {
      const leaf = this.snapshot.effects.get(effect);
      if (leaf === undefined) since.add(effect);
      else await this.#findOpen(effect, leaf);
    }
    const isAll = since.size < effects.size;
    for (const [first, last] of backwards(this.from - 1, this.snapshot.seq + 1)) {
      for await (const found of this.#framesWith([...effects].map(bytesOfId), first, last)) {
        this.#frames.set(found.frame.seq, found);
        for (const record of found.all) if (record.kind === 'effect') since.delete(record.effect);
      }
      if (!isAll && since.size === 0) break;
    }
    await this.#findPlaces(effects);
  }

  /** Finds where a session was after a frame: its step, or its run. */
  async findPlace(session: string, before: number): Promise<void> {
    this.#sessions.add(session);
    for (const [first, last] of backwards(before, 0)) {
      let found: DecodedFrame | undefined;
      for await (const one of this.#framesWith([Buffer.from(session)], first, last))
        if (isPlacedIn(one.all, session) || sessionsMadeIn(one.all).includes(session)) found = one;
      if (found === undefined) continue;
      this.#frames.set(found.frame.seq, found);
      return;
    }
  }

  /** What was found, in order; of each frame the records about these effects and the sessions that were looked for. */
  frames(effects: ReadonlySet<string>): readonly RecalledFrame[] {
    const isMeant = (record: JournalRecord): boolean => {
      const stating = sessionStating(record);
      if (stating !== undefined) return this.#sessions.has(stating);
      const effect = record.kind === 'effect' ? record.effect : effectNamedBy(record);
      return effect !== undefined && effects.has(effect);
    };
    return [...this.#frames.values()]
      .sort((a, b) => a.frame.seq - b.frame.seq)
      .map(({ frame: { bytes: _, ...frame }, all }) => ({
        ...frame,
        records: all.filter(isMeant).map((record) => this.#asDecided(record)),
      }));
  }

  /** An effect that was approved before the snapshot waits for nobody. */
  #asDecided(record: JournalRecord): JournalRecord {
    if (record.kind !== 'effect' || !this.#approved.has(record.effect)) return record;
    const { approval: _, ...decided } = record;
    return decided;
  }

  /** Finds the emission of an effect that is open at the snapshot, and what it waits for. */
  async #findOpen(effect: string, leaf: EffectLeaf): Promise<void> {
    const [emitted] = leaf.queued;
    if (leaf.approval === undefined) this.#approved.add(effect);
    const open = new Set(leaf.asks?.flatMap(({ n, answer }) => (answer === undefined ? [n] : [])));
    let isDeferred = leaf.deferred === undefined;
    for await (const found of this.#framesWith([bytesOfId(effect)], emitted, this.snapshot.seq)) {
      this.#frames.set(found.frame.seq, found);
      for (const record of found.all) {
        if (record.kind === 'ask' && record.effect === effect) open.delete(record.n);
        if (record.kind === 'deferred' && record.effect === effect) isDeferred = true;
      }
      if (open.size === 0 && isDeferred) return;
    }
  }

  /** Finds the steps at which sessions emitted the effects. */
  async #findPlaces(effects: ReadonlySet<string>): Promise<void> {
    for (const { frame, all } of [...this.#frames.values()])
      for (const [i, record] of all.entries()) {
        const session = sessionEmitting(record);
        if (session === undefined || record.kind !== 'effect' || !effects.has(record.effect)) continue;
        this.#sessions.add(session);
        if (!isPlacedIn(all.slice(0, i), session)) await this.findPlace(session, frame.seq - 1);
      }
  }

  /** The frames of a range whose bytes hold one of some texts, decoded. */
  async *#framesWith(texts: readonly Buffer[], first: number, last: number): AsyncGenerator<DecodedFrame> {
    for await (const frame of this.store.journal.read(first, last)) {
      this.signal?.throwIfAborted();
      if (holdsAny(frame, texts)) yield { frame, all: readFrame(frame.bytes, frame.seq).all };
    }
  }
}

/** The frames of the first stretch that is looked through. */
const STRETCH_MIN = 8;

/** Stretches of frames from a frame back to an earlier one, each longer than the one before. */
function* backwards(last: number, first: number): Generator<readonly [first: number, last: number]> {
  for (let [to, width] = [last, STRETCH_MIN]; to >= first; width *= 4) {
    const from = Math.max(to + 1 - width, first);
    yield [from, to];
    to = from - 1;
  }
}

/** An id as the bytes of a frame hold it. */
function bytesOfId(id: string): Buffer {
  return Buffer.from(id, 'hex');
}

/** Whether records say where a session is. */
function isPlacedIn(records: readonly JournalRecord[], session: string): boolean {
  return records.some((record) => sessionPlacedBy(record) === session);
}
