/** Folds one input into one frame at the end of a batch. The stepper decides what is folded, and when. */
import type { IngressOf, IngressRecord } from '@reprise/contracts';
import { nextHead } from '../../../ports/journal/chain.js';
import { assertIngress } from '../../../ports/journal/frame.js';
import type { Journal } from '../../../ports/journal/port.js';
import { isKeyed, type KeyedIngress, requestKey } from '../../../ports/journal/request-key.js';
import { type EmittedEffect, effectKey, foldIngress, type LeafChange } from '../../../pure/engine/index.js';
import { loaded } from '../../../state/loaded.js';
import type { Batch } from './batch.js';
import { type CommittedFrame, isPoison, type QueuedIngress } from './ingress.js';
import { earlierRequest, Known, repetitionOf } from './repetition.js';
import { SecondFold, type SecondFoldParts } from './second-fold.js';
import { Suspects, type Suspicion } from './suspects.js';
import { ANOTHER_WRITER, failure } from './write-failures.js';

/** The slots of a world's effects. */
export interface EffectSlots {
  /** Reserves slots for effects of the frame being folded. @returns the effects that may start with it */
  reserve(emitted: readonly EmittedEffect[]): readonly string[];
  /** Gives slots back: the frame that armed them did not become durable. */
  release(effects: readonly string[]): void;
}

/** The collaborators of a frame folder. */
export interface FrameFolderParts extends SecondFoldParts {
  readonly journal: Journal;
  readonly host: EffectSlots;
  /** Present after an unclean close: the first own inputs are noted before they are folded. */
  readonly suspicion?: Suspicion;
}

/** Folds a world's frames, one at a time. */
export class FrameFolder {
  readonly #suspects: Suspects;
  readonly #secondFold: SecondFold;

  constructor(private readonly parts: FrameFolderParts) {
    this.#suspects = new Suspects(parts.suspicion);
    this.#secondFold = new SecondFold(parts);
  }

  /** Folds an input; one of our own that exhausts the machine is quarantined. */
  async fold(batch: Batch, item: QueuedIngress, at: number): Promise<CommittedFrame> {
    const stamps = { seq: batch.head.seq + 1, at };
    const name = item.own ? item.nameAt?.(stamps.seq) : undefined;
    const suspect = name === undefined ? undefined : await this.#suspects.note(name);
    try {
      return await this.#tryFrame(batch, item.make(stamps, suspect === 'poison'), suspect === 'noted');
    } catch (thrown) {
      if (!item.own || !isPoison(thrown)) throw thrown;
      return await this.#tryFrame(batch, item.make(stamps, true)); // an own input is always journaled
    } finally {
      if (name !== undefined && suspect !== undefined) await this.#suspects.clear(name); // before the commit, which says nothing about the own input
    }
  }

  /** @param isNoted a note stands for it, in case the process dies of it */
  async #tryFrame(batch: Batch, ingress: IngressRecord, isNoted = false): Promise<CommittedFrame> {
    assertIngress(ingress); // never write a record that a reader of the journal would refuse
    const key = isKeyed(ingress) ? await this.#newRequestKey(batch, ingress) : undefined;
    const noted = <T>(body: () => T): T => (isNoted ? this.#suspects.fold(body) : body());
    const fold = () => noted(() => foldIngress(this.parts.env, this.parts.table, ingress));
    const folded = await loaded(this.parts.table, fold);
    const armed = this.parts.host.reserve(folded.emitted);
    try {
      const sealed = noted(() => folded.seal(armed));
      if (this.#secondFold.isDue()) await this.#secondFold.compare(ingress, armed, sealed);
      const head = nextHead(batch.head, sealed.bytes, this.parts.env.hash);
      const { seq, at } = ingress;
      const { records, packed, changes, aborts, faulted } = sealed;
      const arms = ingress.kind === 'attempt' ? armedBy(ingress, changes) : armed;
      const size = sealed.bytes.length;
      const frame: CommittedFrame = { seq, at, head, size, records, packed, changes, armed: arms, aborts, faulted };
      this.parts.table.apply(sealed.changes, batch.undo);
      batch.frames.push({ frame, sealed, riding: armed, key });
      if (key !== undefined && isKeyed(ingress)) batch.requests.set(key, { seq, request: ingress });
      batch.head = head;
      batch.bytes += sealed.bytes.length;
      return frame;
    } catch (thrown) {
      this.parts.host.release(armed);
      throw thrown;
    }
  }

  /**
   * @throws Known, or Duplicate and Refusal of the batch, for a repeated request; RepriseError `fenced` when another
   *   writer journaled it, in a frame that this writer does not know
   */
  async #newRequestKey(batch: Batch, ingress: KeyedIngress): Promise<string> {
    const { journal, env } = this.parts;
    const key = requestKey(ingress, env.hash);
    const inBatch = batch.requests.get(key);
    if (inBatch !== undefined) throw repetitionOf(inBatch, ingress);
    const durable = await earlierRequest(journal, key, env.hash);
    if (durable === undefined) return key;
    if (durable.seq > batch.head.seq) throw failure('fenced', ANOTHER_WRITER);
    throw new Known(repetitionOf(durable, ingress));
  }
}

/** An attempt arms its effect, unless the gate ended it instead. */
function armedBy({ effect }: IngressOf<'attempt'>, changes: readonly LeafChange[]): readonly string[] {
  const { id } = effectKey(effect);
  return changes.some(({ key, after }) => key.id === id && after !== undefined) ? [effect] : [];
}
