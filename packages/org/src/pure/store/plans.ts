/** `memory/operate_plan@1`: does one operation on a store, and tells the owner what a model is told. */
import type { OwnerReply } from '@reprise/agent/contracts';
import { present, type Value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import type { PlanBody, PlanContext, ReceiptOf } from '@reprise/kernel/define';
import { planOf } from '../kit/definitions.js';
import { type MemoryDone, type MemoryOperation, memoryOperation } from './calls.js';
import { memoryRead, memorySearch, memoryWhy, memoryWrite, scope, type Written } from './effects.js';
import { storeAt } from './names.js';

const input = z.strictObject({ store: scope, operation: memoryOperation });

type Outcome = Omit<MemoryDone, 'store' | 'op'>;

/** `memory/operate_plan@1`. An owner emits it by `memoryCall` and `memoryOperate`. */
export const operatePlan = planOf('memory/operate_plan@1', () => ({
  input,
  effects: [memoryWrite, memoryRead, memorySearch, memoryWhy],
  *run({ store, operation }, plan) {
    const outcome = yield* operate(plan, store, operation);
    plan.raiseEvent({ name: 'memory/Done@1', value: { store, op: operation.op, ...outcome } });
  },
}));

function* operate(plan: PlanContext, store: string, operation: MemoryOperation): PlanBody<Outcome> {
  switch (operation.op) {
    case 'search': {
      const { op: _, ...terms } = operation;
      return yield* search(plan, store, terms);
    }
    case 'read':
      return yield* read(plan, store, operation.ids);
    case 'why': {
      const found = yield* plan.awaitReceipt(plan.emitEffect(memoryWhy, { store, id: operation.id }));
      if (found.status !== 'ok') return refused(found);
      const { chain, text_ref } = found.payload;
      return done({ chain }, text_ref === null ? [] : [{ label: 'words', ref: text_ref }]);
    }
    default: {
      const at = storeAt(store);
      const receipt = yield* plan.awaitReceipt(plan.emitEffect(memoryWrite, { store, at, operation }));
      return receipt.status === 'ok' ? wrote(operation.op, receipt.payload) : refused(receipt);
    }
  }
}

type Terms = Omit<Extract<MemoryOperation, { op: 'search' }>, 'op'>;

function* search(plan: PlanContext, store: string, terms: Terms): PlanBody<Outcome> {
  const found = yield* plan.awaitReceipt(plan.emitEffect(memorySearch, { store, ...terms }));
  if (found.status !== 'ok') return refused(found);
  const { items, text_ref } = found.payload;
  const shown = items.map(({ id, score, rank, task, result }) =>
    present({ id, score, rank, task_id: task, result_id: result }),
  );
  return done({ items: shown }, text_ref === null ? [] : [{ label: 'memories', ref: text_ref }]);
}

/** Reading by number counts as a use, which the store notes; the words are composed after that. */
function* read(plan: PlanContext, store: string, ids: readonly number[]): PlanBody<Outcome> {
  const counted = yield* plan.awaitReceipt(plan.emitEffect(memoryRead, { store, at: storeAt(store), ids: [...ids] }));
  if (counted.status !== 'ok') return refused(counted);
  const found = counted.payload.items.map(({ id }) => id);
  if (found.length === 0) return done({ items: [] }, []);
  return yield* search(plan, store, { ids: found, k: found.length, all: true });
}

function wrote(op: MemoryOperation['op'], written: Written): Outcome {
  const { id, existed, score, revision } = written;
  return { ...done(op === 'store' ? { id, existed } : { score, revision }, []), written };
}

function done(value: Value, refs: OwnerReply['refs']): Outcome {
  return { code: null, written: null, reply: { value, refs } };
}

function refused({ status, code }: Pick<ReceiptOf<unknown>, 'status' | 'code'>): Outcome {
  const because = code ?? status;
  return { code: because, written: null, reply: { value: { code: because, hint: HINTS[because] ?? '' }, refs: [] } };
}

/** What a model can do about a refusal. */
const HINTS: Readonly<Record<string, string>> = {
  'validation_error/origin': 'Name the result or the task that the memory comes from.',
  'validation_error/item_unknown': 'Search for the item again: this number is not of this store.',
  'validation_error/item_gone': 'The item is no longer in use. Store a new one.',
  'validation_error/item_too_large': 'Use fewer and shorter tags.',
  'cap_denied/mem_write': 'You may not write to this store.',
  'cap_denied/mem_read': 'You may not read this store.',
};
