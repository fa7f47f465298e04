import { ref } from '@reprise/contracts';
import { type App, creates, defineApp, defineReducer } from '@reprise/kernel';
import * as z from 'zod';

/** State that a test changes without the world's knowledge. */
export interface LedgerCode {
  sum(total: number, by: number): number;
  note(text: string): string;
  /** The schema of what is added. */
  by(int: z.ZodInt): z.ZodInt;
}

/** A small app. */
export function ledgerApp(code: Partial<LedgerCode> = {}): App {
  const { sum = (total, by) => total + by, note = (text) => text, by = (int) => int } = code;
  const ledger = defineReducer({
    name: 'demo/Ledger@1',
    state: z.strictObject({ total: z.int(), note: z.string() }),
    events: {
      'demo/Added@1': creates(z.strictObject({ by: by(z.int()) })),
      'demo/Noted@1': z.strictObject({ text: z.string(), at: z.array(ref()) }),
    },
    facts: { 'demo/Totalled@1': z.strictObject({ total: z.int() }) },
    logs: { history: z.int() },
    init: () => ({ total: 0, note: '' }),
    reduce(draft, event, ctx) {
      if (event.name === 'demo/Noted@1') {
        draft.note = note(event.value.text);
        return;
      }
      draft.total = sum(draft.total, event.value.by);
      ctx.append('history', draft.total);
      ctx.record('demo/Totalled@1', { total: draft.total });
    },
  });
  return defineApp({ reducers: [ledger] });
}
