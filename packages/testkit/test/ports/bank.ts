/** A bank that pays once under a key, an honest adapter before it, and everything that the adapter suite can be told. */

import type { Ref } from '@reprise/contracts';
import { ref } from '@reprise/contracts';
import { type Adapter, type AdapterContext, type AdapterOutcome, defineEffect } from '@reprise/kernel';
import type { AdapterSubject } from '@reprise/testkit/ports';
import * as z from 'zod';

const payment = z.strictObject({
  to: z.string(),
  cents: z.int().min(1),
  guarantee: z.enum(['idempotent', 'reconcile', 'at_most_once']),
});

export type Payment = z.infer<typeof payment>;
export interface Paid {
  readonly id: string;
  readonly note_ref: Ref;
}

export const pay = defineEffect({
  kind: 'bank.pay@1',
  params: payment,
  receipt: z.strictObject({ id: z.string(), note_ref: ref() }),
  guarantee: { param: 'guarantee' },
});

/** Pays `to` by name: "nobody" is refused, "slow" takes until its signal is aborted. */
export class Bank {
  readonly paid = new Map<string, Payment[]>();
  readonly #reached = new Map<string, () => void>();

  async pay(key: string, given: Payment, signal: AbortSignal): Promise<'paid' | 'refused' | 'gone'> {
    this.#reached.get(key)?.();
    await new Promise((resolve) => setImmediate(resolve));
    if (given.to === 'nobody') return 'refused';
    if (given.to === 'slow') {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'gone';
    }
    if (!this.paid.has(key)) this.book(key, given);
    return 'paid';
  }

  book(key: string, given: Payment): void {
    this.paid.set(key, [...(this.paid.get(key) ?? []), given]);
  }

  reached(key: string): Promise<void> {
    return new Promise((resolve) => this.#reached.set(key, resolve));
  }
}

export type BankAdapter = Adapter<Payment, Paid> & Required<Pick<Adapter<Payment, Paid>, 'doReconcile'>>;

/** What the adapter makes of a payment that was made. */
export async function receiptFor({ to, cents }: Payment, { content }: AdapterContext): Promise<AdapterOutcome<Paid>> {
  const note_ref = await content.put(new TextEncoder().encode(`${cents} to ${to}`));
  return { status: 'ok', payload: { id: `${to}-${cents}`, note_ref } };
}

export function honestAdapter(bank: Bank): BankAdapter {
  return {
    effect: pay,
    name: 'bank',
    async doExecute(given, context) {
      if (context.signal.aborted) return { status: 'cancelled' };
      await context.secret('BANK_TOKEN');
      context.progress({ paying: given.to });
      const reply = await bank.pay(context.idempotencyKey, given, context.signal);
      if (reply === 'gone') return { status: 'cancelled' };
      if (reply === 'refused') return { status: 'error', code: 'adapter_error/refused', retryable: false };
      return receiptFor(given, context);
    },
    async doReconcile(given, context) {
      const paid = bank.paid.has(context.idempotencyKey);
      return paid ? { verdict: 'happened', outcome: await receiptFor(given, context) } : { verdict: 'unknown' };
    },
  };
}

/** The bank's subject with every ability, before an adapter of one's choice. */
export function bankSubject(adapterOf: (bank: Bank) => Adapter<Payment, Paid> = honestAdapter) {
  const bank = new Bank();
  const to = (name: string, cents = 5): Payment => ({ to: name, cents, guarantee: 'idempotent' });
  return {
    adapter: adapterOf(bank),
    params: [to('ann'), to('ben', 7), to('cleo', 9)],
    happened: (key) => bank.paid.get(key)?.length ?? 0,
    failing: [to('nobody')],
    slow: [to('slow')],
    reached: (key) => bank.reached(key),
    interrupt: async (key, given, when) => {
      if (when === 'after') bank.book(key, given);
    },
    patienceMs: 200,
  } satisfies AdapterSubject<Payment, Paid>;
}
