/**
 * Answers the effects of a dry fork with the recorded receipts of the original, or with a refusal. No adapter is
 * ever called.
 *
 * Invariants (cited elsewhere as dry-answers/Y1 and so on)
 * Y1  An effect that equals one of the original (cell, generation, plan, ordinals, kind, parameters) gets the receipt
 *     of that effect; any other is denied. Identities never repeat, so no receipt is used twice.
 * Y2  Receipts are given in the order in which the original got them, as far as their effects exist here.
 * Y3  An effect that a cell of the world settles is left to that cell.
 */
import type { Receipt } from '@reprise/contracts';
import { LazyHeap } from '../../ports/time/lazy-heap.js';
import type { App } from '../../pure/define/index.js';
import type { EffectLeaf, LeafChange } from '../../pure/engine/index.js';
import { check } from '../../pure/schema/index.js';
import type { RecordedReceipt, RecordedReceipts } from '../../replay/fork/recorded-receipts.js';
import type { Executor } from './executor.js';

interface DryAnswersParts {
  readonly app: App;
  readonly recorded: RecordedReceipts;
  /**
   * Journals an answer. Resolves when it is durable or the effect was already settled.
   *
   * @param recorded the effect of the original that the receipt belongs to; absent when the original has no such effect
   */
  settle(effect: string, receipt: Receipt, recorded?: string): Promise<void>;
  /** Called when the recorded receipts cannot be read: the fork cannot go on. */
  failed(error: unknown): void;
}

interface Answer {
  readonly effect: string;
  readonly leaf: EffectLeaf;
  /** The recorded receipt; undefined when the original has no such effect. */
  readonly recorded: RecordedReceipt | undefined;
}

/** Answers open effects without executing them. */
export class DryAnswers implements Executor {
  readonly #open = new Map<string, EffectLeaf>();
  /** Open effects that have not been looked up yet. */
  #fresh: string[] = [];
  readonly #answers = new LazyHeap<Answer>(isBefore, ({ effect, leaf }) => this.#open.get(effect) === leaf);
  #working: Promise<void> | undefined;
  #changed = false;
  #enabled = false;
  #closing = false;
  #until = Number.POSITIVE_INFINITY;

  constructor(private readonly parts: DryAnswersParts) {}

  get idle(): boolean {
    return this.#working === undefined && !(this.#enabled && this.#changed);
  }

  get unfinished(): boolean {
    return this.#working !== undefined || this.#changed;
  }

  get runningCount(): number {
    return this.#working === undefined ? 0 : 1;
  }

  enable(): void {
    this.#enabled = !this.#closing;
    if (this.#changed) this.#wake();
  }

  disable(): void {
    this.#enabled = false;
  }

  abandon(): void {
    this.disable(); // a dry fork runs nothing that could be told to stop
  }

  /** From now on only receipts before this frame of the original are given; later ones wait. */
  answerUntil(seq: number): void {
    this.#until = seq;
    this.#wake();
  }

  adopt(effect: string, leaf: EffectLeaf): void {
    if (leaf.settler !== undefined || leaf.late !== undefined) return; // Y3
    if (!this.#open.has(effect)) this.#fresh.push(effect);
    this.#open.set(effect, leaf);
    this.#wake();
  }

  reserve(): readonly string[] {
    return [];
  }

  release(): void {
    // no slot was taken
  }

  follow(changes: readonly LeafChange[]): void {
    for (const { key, after } of changes) {
      if (key.path[0] !== 'effect') continue;
      const effect = String(key.path[1]);
      this.#open.delete(effect);
      if (after !== undefined) this.adopt(effect, after as EffectLeaf);
    }
  }

  async ended(): Promise<void> {
    await this.#working;
  }

  async close(): Promise<number> {
    this.#closing = true;
    this.#enabled = false;
    await this.#working;
    return 0;
  }

  #wake(): void {
    this.#changed = true;
    if (!this.#enabled || this.#working !== undefined) return;
    this.#working = this.#work()
      .catch((error: unknown) => {
        this.#closing = true;
        this.#enabled = false;
        this.parts.failed(error);
      })
      .finally(() => {
        this.#working = undefined;
        if (this.#enabled && this.#changed) this.#wake();
      });
  }

  async #work(): Promise<void> {
    while (this.#enabled && this.#changed) {
      this.#changed = false;
      for (let next = await this.#next(); next !== undefined && this.#enabled; next = await this.#next()) {
        this.#open.delete(next.effect); // it is answered once, and its frame takes it off the ledger
        const receipt = this.#receiptOf(next);
        await (receipt === undefined
          ? this.parts.settle(next.effect, DENIED)
          : this.parts.settle(next.effect, receipt, next.recorded?.effect));
      }
    }
  }

  /** The answer to give next; undefined when every other one waits for a later frame of the original. */
  async #next(): Promise<Answer | undefined> {
    for (const effect of this.#fresh.splice(0)) {
      const leaf = this.#open.get(effect);
      if (leaf !== undefined) this.#answers.push({ effect, leaf, recorded: await this.#find(leaf) });
    }
    const first = this.#answers.first();
    return first === undefined || (first.recorded?.seq ?? -1) >= this.#until ? undefined : first;
  }

  async #find({ origins = [] }: EffectLeaf): Promise<RecordedReceipt | undefined> {
    for (const id of origins) {
      const recorded = await this.parts.recorded.find(id);
      if (recorded !== undefined) return recorded;
    }
    return undefined;
  }

  /** A payload that no longer fits the schema of the effect's definition is not used as an answer. */
  #receiptOf({ leaf, recorded }: Answer): Receipt | undefined {
    if (recorded?.receipt.status !== 'ok') return recorded?.receipt;
    const definition = this.parts.app.effects.get(leaf.name);
    const fits = definition !== undefined && check(definition.receipt, recorded.receipt.payload ?? null).ok;
    return fits ? recorded.receipt : undefined;
  }
}

const DENIED: Receipt = { adapter: 'kernel', status: 'denied', code: 'policy_denied/fork_dry', attempts: 0 };

/** Y2; a denied effect waits for no other. */
function isBefore(a: Answer, b: Answer): boolean {
  const [one, other] = [a.recorded?.order ?? -1, b.recorded?.order ?? -1];
  if (one !== other) return one < other;
  const [seq, index] = a.leaf.queued;
  return seq !== b.leaf.queued[0] ? seq < b.leaf.queued[0] : index < b.leaf.queued[1];
}
