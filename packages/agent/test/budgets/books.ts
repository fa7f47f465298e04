/**
 * The books of one world with a real store: a ledger that is read from its durable frames before each launch, held against
 * what its model was really asked and really answered. A fork has books of its own, which begin with its history.
 */
import type { JournalRecord, Receipt, Usage } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { Ledger, type Sums, type Terms } from './ledger.js';

/** The name of the adapter whose receipts are held against what it answered. */
export const PAYING = 'paying';

/** Keeps the books of one world, whatever processes open it. */
export class Books {
  readonly ledger: Ledger;
  /** Calls that the model was asked, each as often as it was. */
  asks = 0;
  readonly #answers = new Map<string, Usage | undefined>();
  readonly #over = new Set<string>();
  #next = 0;
  #reading: Promise<void> = Promise.resolve();

  constructor(root: string, terms: Terms) {
    this.ledger = new Ledger(root, terms);
  }

  /** Reads what is durable by now. @throws Error when a call was begun for which too little was left */
  catchUp(world: World): Promise<void> {
    // A process that died in the middle of it has read so far as it did; the next goes on from there.
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#read(world));
    return this.#reading;
  }

  /** The model is asked: the call is in the books, under the same bound, or it was begun behind their back. */
  asked(effect: string, answer: number | undefined): void {
    this.asks++;
    const call = this.ledger.calls.get(effect);
    if (call === undefined) throw new Error(`a model was asked by ${effect}, which is in no journal`);
    if (call.answer !== (answer ?? 0))
      throw new Error(`a model was asked for ${answer} tokens, and ${call.answer} are recorded`);
  }

  /** The model answers; asked again after a crash, the last answer counts. */
  answered(effect: string, usage: Usage | undefined): void {
    this.#answers.set(effect, usage);
  }

  async #read(world: World): Promise<void> {
    if (world.head.seq < this.#next) return;
    const { seq } = world.head;
    for await (const frame of world.frames(this.#next)) {
      for (const record of frame.records) this.#record(record);
      this.#next = frame.seq + 1;
      if (frame.seq >= seq) return;
    }
  }

  #record(record: JournalRecord): void {
    if (record.kind === 'fault') throw new Error(`a fault: ${record.code}`);
    if (record.kind === 'fork') for (const [effect, receipt] of record.settled) this.#ended(effect, receipt, false);
    if (record.kind !== 'receipt') return this.ledger.read({ records: [record] });
    const { effect, receipt, unanswered } = record;
    if (receipt.adapter === PAYING) this.#same(effect, receipt.usage);
    this.#ended(effect, receipt, unanswered === true);
  }

  /** What is journaled is what the model said. */
  #same(effect: string, usage: Usage | undefined): void {
    if (!this.#answers.has(effect)) return; // answered in the world that this one was forked from
    if (JSON.stringify(sumsOf(this.#answers.get(effect))) !== JSON.stringify(sumsOf(usage)))
      throw new Error(`${effect}: its receipt says another usage than its model`);
  }

  #ended(effect: string, { status, code = '', usage }: Receipt, unanswered: boolean): void {
    const reported = sumsOf(usage);
    const free = status === 'ok' || code.startsWith('provider_error');
    const first = !this.#over.has(effect) && !unanswered;
    this.#over.add(effect);
    const reading = status === 'ok' && first ? (reported?.tokens ?? 1) : undefined;
    this.ledger.ended(effect, reported ?? (free && first ? { tokens: 0, money: 0 } : undefined), reading);
  }
}

function sumsOf(usage: Usage | undefined): Sums | undefined {
  if (usage === undefined) return undefined;
  return { tokens: (usage.tokens_in ?? 0) + (usage.tokens_out ?? 0), money: usage.micro_money ?? 0 };
}
