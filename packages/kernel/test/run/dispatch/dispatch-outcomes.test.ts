import { describe, expect, it } from 'vitest';
import { openKernelWorld } from '../../../src/index.js';
import { crashable } from '../../support/crashable-store.js';
import { closeSound, recordsOf } from '../../support/judge.js';
import { again, ask, asked, lab, once, seen, start, tellCell } from '../../support/lab.js';
import { ok, outside } from '../../support/outside.js';

const { app } = lab({
  *once(input, plan) {
    tellCell(plan, 'got', (yield* plan.awaitReceipt(plan.emitEffect(once, input))).status);
  },
  *again(input, plan) {
    tellCell(plan, 'got', (yield* plan.awaitReceipt(plan.emitEffect(again, input))).status);
  },
  *asked(input, plan) {
    tellCell(plan, 'got', (yield* plan.awaitReceipt(plan.emitEffect(asked, input))).status);
  },
});

const code = 'adapter_error/bad_outcome';
const classes = [
  ['once', once, { status: 'outcome_unknown', code }],
  ['asked', asked, { status: 'outcome_unknown', code }],
  ['again', again, { status: 'error', code, retryable: false }],
] as const;

const outcomes: readonly (readonly [string, unknown])[] = [
  ['a code with a space', { status: 'error', code: 'adapter_error/HTTP 500' }],
  ['half a token', { ...ok({ got: 1 }), usage: { tokens_in: 1.5 } }],
  ['a usage that is no number', { ...ok({ got: 1 }), usage: { tokens_in: Number.NaN } }],
  ['another status', { status: 'done' }],
  ['a retryable that is text', { status: 'error', code: 'adapter_error', retryable: 'yes' }],
  ['nothing', undefined],
  [
    'something that cannot be read',
    Object.defineProperty({}, 'status', {
      get: () => {
        throw new Error('no');
      },
    }),
  ],
];

describe.each(classes)(
  'given an adapter of the lab effect %s that answers with an invalid outcome',
  (plan, effect, said) => {
    it.each(outcomes)(
      'an answer that is %s leads to a receipt that claims only what is known, and the world opens again [EFF-17]',
      async (_what, outcome) => {
        const store = crashable();
        const adapter = outside(effect);
        const world = await openKernelWorld({ store, app, adapters: [adapter] });
        await ask(world, 'x', [start(plan)]);
        (await adapter.call(0)).answer(outcome);
        await world.pump();
        const [record] = await recordsOf(store, 'receipt');
        expect(record?.receipt).toEqual({ adapter: adapter.name, attempts: 1, ...said });
        expect(await seen(world, 'x')).toEqual([`got="${said.status}"`]);
        expect(adapter.calls).toHaveLength(1);
        await closeSound(world, store, app);
      },
    );
  },
);
