/** Calls of memory tools: the project's own store, and where what is written comes from. */
import type { OwnerCall } from '@reprise/agent/contracts';
import { formatAddress } from '@reprise/contracts';
import { type ItemOrigin, key, type MemoryNews, memoryCall, memoryOperate } from '@reprise/org/contracts';
import { type Remembering, scopeOf } from '../../contracts/index.js';
import { changeResult, type Delivery, resultOr, taskOr } from '../project/delivery.js';
import { linkMessage } from '../project/links.js';
import type { Caller } from './calls.js';

/** Passes a call on to the store of the project. Only the coordinator's may write (SPEC-36). */
export function callMemory(delivery: Delivery, call: OwnerCall, caller: Caller): void {
  const { ctx, state } = delivery;
  const project = ctx.address[1];
  const origin = {
    cell: formatAddress(ctx.address),
    ...(caller.role === 'coordinator' ? { message: state.message } : { job: caller.n }),
  };
  memoryCall(ctx, call, {
    store: scopeOf(project),
    origin,
    has: ({ kind, id }) =>
      kind === 'result'
        ? delivery.ctx.table('results').get(key(Number(id))) !== undefined
        : kind === 'task' && delivery.ctx.table('tasks').get(key(Number(id))) !== undefined,
  });
}

/** People and apps write to the store of the project. What an item comes from must be there (SPEC-35). */
export function remember(delivery: Delivery, { operation, said_ref, tag }: Remembering): void {
  const { ctx, state } = delivery;
  const store = scopeOf(ctx.address[1]);
  if (operation.op !== 'store') return memoryOperate(ctx, { store, operation, tag });
  requireOrigin(delivery, operation.origin);
  if (said_ref !== undefined) linkMessage(delivery, said_ref);
  const named = { ...operation.origin, ...(said_ref === undefined ? {} : { message: state.message }) };
  const origin = Object.keys(named).length === 0 ? null : { ...named, cell: formatAddress(ctx.address) };
  memoryOperate(ctx, { store, operation: { ...operation, origin }, tag });
}

function requireOrigin(delivery: Delivery, origin: ItemOrigin | null): void {
  if (origin?.result !== undefined) resultOr(delivery, origin.result);
  if (origin?.task !== undefined) taskOr(delivery, origin.task);
}

/** An item was written: the result that it was made of names it. */
export function memoryWritten(delivery: Delivery, { origin, written }: MemoryNews): void {
  const result = origin?.result;
  if (written === null || result === undefined) return;
  const { memory_ids } = resultOr(delivery, result);
  if (memory_ids.includes(written.id) || memory_ids.length >= MEMORY_IDS_MAX) return;
  changeResult(delivery, result, { memory_ids: [...memory_ids, written.id] });
}

const MEMORY_IDS_MAX = 64;
