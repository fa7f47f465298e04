/** Folds one input into one frame at the end of a batch. The stepper decides what is folded, and when. */
import type { IngressOf, IngressRecord } from '@reprise/contracts';
import { nextHead } from '../../../ports/journal/chain.js';
import { assertIngress } from '../../../ports/journal/frame.js';
import type { Journal } from '../../../ports/journal/port.js';
import { isKeyed, type KeyedIngress, requestKey } from '../../../ports/journal/request-key.js';
import { after, type MaybePromise, rescued } from '../../../ports/time/maybe-promise.js';
import {
  type EmittedEffect,
  effectKey,
  foldIngress,
  type LeafChange,
  type SealedFrame,
} from '../../../pure/engine/index.js';
import { loaded } from '../../../state/loaded.js';
import type { Batch } from './batch.js';
import { type CommittedFrame, isPoison, type QueuedIngress, type Stamps } from './ingress.js';
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

/** An input that was folded. */
interface FoldedInput {
  readonly ingress: IngressRecord;
  /** The key under which a request is found again. */
  readonly key: string | undefined;
  /** Effects that start with its frame. */
  readonly armed: readonly string[];
}

/** Folds a world's frames, one at a time. */
export class FrameFolder {
  readonly #suspects: Suspects;
  readonly #secondFold: SecondFold;

  constructor(private readonly parts: FrameFolderParts) {
    this.#suspects = new Suspects(parts.suspicion);
    this.#secondFold = new SecondFold(parts);
  }

  /** Folds an input; one of our own that exhausts the machine is quarantined. At once, where nothing is read or noted. */
  fold(batch: Batch, item: QueuedIngress, at: number): MaybePromise<CommittedFrame> {
    const stamps = { seq: batch.head.seq + 1, at };
    const name = item.own && this.#suspects.areWatched ? item.nameAt?.(stamps.seq) : undefined;
    return name === undefined ? this.#fold(batch, item, stamps) : this.#foldSuspect(batch, item, stamps, name);
  }

  async #foldSuspect(batch: Batch, item: QueuedIngress, stamps: Stamps, name: string): Promise<CommittedFrame> {
    const suspect = await this.#suspects.note(name);
    try {
      return await this.#fold(batch, item, stamps, suspect);
    } finally {
      if (suspect !== undefined) await this.#suspects.clear(name); // before the commit, which says nothing about the own input
    }
  }

  #fold(batch: Batch, item: QueuedIngress, stamps: Stamps, suspect?: 'noted' | 'poison'): MaybePromise<CommittedFrame> {
    return rescued(
      () => this.#tryFrame(batch, item.make(stamps, suspect === 'poison'), suspect === 'noted'),
      (thrown) => {
        if (!item.own || !isPoison(thrown)) throw thrown;
        return this.#tryFrame(batch, item.make(stamps, true)); // an own input is always journaled
      },
    );
  }

  /** @param isNoted a note stands for it, in case the process dies of it */
  #tryFrame(batch: Batch, ingress: IngressRecord, isNoted = false): MaybePromise<CommittedFrame> {
    assertIngress(ingress); // never write a record that a reader of the journal would refuse
    const key = isKeyed(ingress) ? this.#newRequestKey(batch, ingress) : undefined;
    const noted = <T>(body: () => T): T => (isNoted ? this.#suspects.fold(body) : body());
    const fold = () => noted(() => foldIngress(this.parts.env, this.parts.table, ingress));
    return after(key, (own) =>
      after(loaded(this.parts.table, fold), (folded) => {
        const armed = this.parts.host.reserve(folded.emitted);
        const seal = () =>
          this.#add(
            batch,
            { ingress, key: own, armed },
            noted(() => folded.seal(armed)),
          );
        return rescued(seal, (thrown) => {
          this.parts.host.release(armed);
          throw thrown;
        });
      }),
    );
  }

  /** Adds a frame to the batch; before that, some are folded a second time. */
  #add(batch: Batch, input: FoldedInput, sealed: SealedFrame): MaybePromise<CommittedFrame> {
    const { ingress, key, armed } = input;
    const compared = this.#secondFold.isDue() ? this.#secondFold.compare(ingress, armed, sealed) : undefined;
    return after(compared, () => {
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
      batch.bytes += size;
      return frame;
    });
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
