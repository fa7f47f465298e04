/**
 * A ledger of its own for the budget of a tree: what the receipts of model calls state is added up for each session, and
 * compared with what each run says that it used.
 */
import type { JournalRecord } from '@reprise/contracts';
import { Differs } from '../follow.js';

interface Tally {
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly micro_money: number;
}

/** What model calls used, by session. */
export class Ledger {
  /** The session of each model call. */
  readonly #calls = new Map<string, string>();
  /** What each session used since its last run ended. */
  readonly #open = new Map<string, { tokens: number; micro_money: number }>();
  readonly total = { tokens: 0, micro_money: 0 };

  /** Takes a frame. @throws Differs when the run of a session says otherwise than its receipts */
  take(records: readonly JournalRecord[]): void {
    for (const record of records) {
      if (record.kind === 'effect' && record.name.startsWith('llm.generate'))
        this.#calls.set(record.effect, record.plan[1]);
      if (record.kind === 'receipt') this.#pay(record.effect, record.receipt.usage ?? {});
      if (record.kind === 'event' && record.event.name === 'aos.agent/ChildNotice@1') this.#close(record.event.value);
    }
  }

  #pay(effect: string, { tokens_in = 0, tokens_out = 0, micro_money = 0 }: Partial<Tally>): void {
    const session = this.#calls.get(effect);
    if (session === undefined) return;
    const open = this.#open.get(session) ?? { tokens: 0, micro_money: 0 };
    const sum = { tokens: open.tokens + tokens_in + tokens_out, micro_money: open.micro_money + micro_money };
    this.#open.set(session, sum);
    this.total.tokens += tokens_in + tokens_out;
    this.total.micro_money += micro_money;
  }

  #close(notice: unknown): void {
    const { session, news } = notice as {
      readonly session: string;
      readonly news: { readonly kind: string; readonly tally: Tally };
    };
    if (news.kind !== 'settled') return;
    const { tokens, micro_money } = this.#open.get(session) ?? { tokens: 0, micro_money: 0 };
    const { tally } = news;
    this.#open.delete(session);
    if (tally.tokens_in + tally.tokens_out !== tokens || tally.micro_money !== micro_money)
      throw new Differs(`${session} states ${JSON.stringify(tally)}; its receipts: ${tokens} tokens, ${micro_money}`);
  }
}
