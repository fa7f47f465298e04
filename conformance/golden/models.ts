/**
 * What the golden worlds have to mean, from small models of their own: arithmetic, a script, a list of texts. Equality
 * alone shows that nothing changed; a reducer that does nothing is equal, too.
 */
import assert from 'node:assert/strict';
import type { Value } from '@reprise/contracts';
import { accountOf } from './counter-world.js';
import type { Outcome } from './worlds.js';

/** By the name of the world: throws when its result does not follow from its inputs. */
export const MODELS: Readonly<Record<string, (outcome: Outcome) => void>> = {
  counter: accounts,
  plans: waits,
  session: conversation,
};

/** Payments, transfers, refusals, earnings and balances after a fault agree with arithmetic. */
function accounts({ values, logs }: Outcome): void {
  interface Account {
    readonly balance: number;
    readonly ids: readonly string[];
    readonly odd: Readonly<Record<string, number>>;
    readonly answers: readonly string[];
    readonly bonus: number;
  }
  const account = (key: string) => values[accountOf(key)] as unknown as Account;
  const paid = (70 * 71) / 2;
  const { balance, answers, odd, bonus } = account('a');
  assert.equal(balance, paid - 300 - 2_000 + 1_000 + 4); // four times interest in 270 seconds
  assert.deepEqual(answers, ['golden/Paid@1 accepted ', 'golden/Paid@1 rejected too_much']);
  const { chance, ...fixed } = odd;
  assert.deepEqual({ ...fixed }, { zz: 0, 10: 1 / 7, 9: 2 / 7, é: 4 / 7, minus: 0, large: 2 ** 53 });
  assert.ok(chance !== undefined && chance >= 0 && chance < 1);
  assert.equal(bonus, 1);
  const moved = Array.from({ length: 70 }, (_, i) => i + 1);
  assert.deepEqual(logs[`${accountOf('a')} moves`], [...moved, 'to b', 'to c', 1_000]);
  // Overdrawn, so its interest failed it; revived, it has the balance it failed with and no timer.
  assert.equal(account('b').balance, 300 + 2 - 1_000);
  // Ended and opened again: a new generation with a new identifier, from nothing.
  assert.equal(account('c').balance, 1);
  const ids = Object.values(values).flatMap((value) => (value as unknown as Account).ids);
  assert.equal(new Set(ids).size, 4);
  for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/);
}

/** Every way to wait led to its result. */
function waits({ values }: Outcome): void {
  const heard = Object.entries(values).map(([cell, state]) => {
    const { heard } = state as unknown as { heard: readonly { readonly what?: Value; readonly code?: string }[] };
    return [cell.split('/').at(-1), heard.map(({ what, code }) => what ?? code)];
  });
  assert.deepEqual(Object.fromEntries(heard), {
    any: [[1, 'ok'], 'late', 'ok'],
    queue: ['ok', [1, 'ok'], [1, 'ok']],
    all: [['ok', 'ok', 'denied']],
    retry: ['ok'],
    peek: [[{ heard: [] }, null, Date.UTC(2026, 0, 1)]],
    cancel: ['cancelled'],
    crash: ['outcome_unknown'],
    timeout: ['timeout'],
    again: [2, 1, 0],
    nonsense: ['threw'],
    stopped: [[1, 'ok']],
  });
}

/** Messages, questions and answers, item by item; two runs and a limit, no call without its result. */
function conversation({ values, logs }: Outcome): void {
  const state = Object.values(values)[0] as unknown as {
    runs: number;
    run: null;
    calls: Value[];
    last: { run: number; stop: Record<string, Value> };
  };
  assert.deepEqual([state.runs, state.run, state.calls], [3, null, []]);
  assert.deepEqual(state.last.run, 2);
  assert.equal(state.last.stop.kind, 'LimitsExceeded');
  assert.equal(state.last.stop.limit, 'max_steps');
  const sum = (a: number, b: number): string[] => [`assistant calls add ${a} + ${b}`, `tool says ${a + b}`];
  assert.deepEqual((Object.values(logs)[0] as readonly unknown[]).map(inWords), [
    'user says How much is 2 + 40?',
    ...sum(2, 40),
    'assistant says It is 42.',
    'user says And İstanbul?',
    'user says Never stop.',
    ...[1, 2, 3, 4].flatMap((n) => sum(n, n)),
  ]);
}

/** An item of a transcript whose links were followed. */
function inWords(item: unknown): string {
  const { role, parts, output_ref, calls } = item as {
    readonly role: string;
    readonly parts?: readonly { readonly text_ref: string }[];
    readonly output_ref?: string | { readonly text: string };
    readonly calls?: readonly {
      readonly tool: string;
      readonly args_ref: { readonly a: number; readonly b: number };
    }[];
  };
  if (parts !== undefined) return `${role} says ${parts.map(({ text_ref }) => text_ref).join(' ')}`;
  const asked = (calls ?? []).map(({ tool, args_ref: { a, b } }) => `${tool} ${a} + ${b}`);
  if (asked.length > 0) return `${role} calls ${asked.join(', ')}`;
  return `${role} says ${typeof output_ref === 'string' ? output_ref : output_ref?.text}`;
}
