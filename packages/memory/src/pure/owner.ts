/**
 * What an owner of sessions does with calls of memory tools: it turns each into an operation on a store, and the outcome
 * into the answer. An owner decides who may call which tool before it passes a call on.
 *
 * @example
 * const OWNER = defineReducer({
 *   tables: { ...own, ...memoryTables },
 *   events: { ...own, ...memoryEvents, 'aos.agent/OwnerCall@1': ownerCall },
 *   reduce(draft, event, ctx) {
 *     if (event.name === 'aos.agent/OwnerCall@1' && isMemoryTool(event.value.name))
 *       return memoryCall(ctx, event.value, { store: 'project:auth', origin: { cell: formatAddress(ctx.address), message: draft.message } })
 *     if (memoryNews(ctx, event) !== 'other') return
 *   },
 * })
 */
import type { OwnerCall, OwnerReply } from '@reprise/agent/contracts';
import {
  isFilled,
  type NOTICES,
  problemsOf,
  requireArgument,
  requireFields,
  requireKnownOptions,
  requireMethods,
  type Value,
} from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import type { ReducerContext, Table } from '@reprise/kernel/define';
import {
  type MemoryCallOf,
  type MemoryDone,
  type MemoryOperation,
  memoryCalls,
  type memoryDone,
  type OpenMemoryCall,
} from './calls.js';
import { type ItemOrigin, itemKey, type Place } from './item.js';
import { MEMORY_TOOLS, type MemoryTool, SEARCH_ITEMS_DEFAULT, storeAt } from './names.js';
import { operatePlan } from './plans.js';

/** The store of a call, and where what it writes comes from. */
export interface MemoryTarget {
  /** The scope of the store. */
  readonly store: string;
  /**
   * The organization, and the places that the caller stands at: the message that its run answers, its node, its job. The
   * result and the task that the call names are added.
   */
  readonly origin: ItemOrigin;
  /**
   * Whether the organization has a place that a call names, a result or a task. When absent it has none, and a call that
   * names one is refused: a link must not lead nowhere.
   */
  readonly has?: (place: Place) => boolean;
}

/** The outcome of an operation, for the owner itself. The session that called has its answer. */
export interface MemoryNews extends Pick<MemoryDone, 'op' | 'code' | 'written'> {
  readonly store: string | null;
  /** Where the item comes from; null for an operation that stored none. */
  readonly origin: ItemOrigin | null;
  readonly reply: OwnerReply;
  /** As given to {@link memoryOperate}; the id of the call otherwise. */
  readonly tag: string;
}

/** Whether a name is that of a memory tool. */
export function isMemoryTool(name: string): name is MemoryTool {
  return (MEMORY_TOOLS as readonly string[]).includes(name);
}

/**
 * Makes the store, or does nothing to one that exists. An owner that writes sends it once, when it begins. With `max` it
 * bounds the store, when it is the owner that made it.
 */
export function openStore(ctx: ReducerContext, store: string, options: { readonly max?: number } = {}): void {
  requireMethods(ctx, ['send', 'emit'], 'openStore(ctx)', 'the ctx of a reducer');
  requireArgument(isFilled(store), 'openStore(store)', 'the name of a store', store);
  requireKnownOptions(options, { max: true }, 'openStore');
  const { max } = options;
  const event = max === undefined ? { name: 'memory/Open@1', value: {} } : { name: 'memory/Bound@1', value: { max } };
  ctx.send(storeAt(store), event);
}

/** Takes a call of a memory tool. The session is answered at once or when the operation has ended. */
export function memoryCall(ctx: ReducerContext, call: OwnerCall, target: MemoryTarget): void {
  requireMethods(ctx, ['send', 'emit'], 'memoryCall(ctx)', 'the ctx of a reducer');
  requireFields(call, 'memoryCall(call)', 'the value of aos.agent/OwnerCall@1');
  requireFields(target, 'memoryCall(target)', 'an object with the store');
  const { session, call_id, step_epoch, name } = call;
  const { caller } = ctx;
  if (caller === null) return ctx.reject('no_cell'); // nobody to answer: an owner declares its sessions as senders
  const open: OpenMemoryCall = {
    call: { to: [...caller], session, call_id, step_epoch },
    origin: null,
    tag: call_id,
  };
  if (!isMemoryTool(name)) return answer(ctx, open, refusal('unknown_tool'), true);
  const parsed = memoryCalls[name].safeParse(call.args);
  if (!parsed.success) {
    const problems = [...problemsOf(parsed.error.issues)];
    return answer(ctx, open, { value: { code: 'invalid_arguments', problems }, refs: [] }, true);
  }
  const operation = operationOf(ctx, name, parsed.data, call, target);
  if ('refused' in operation) return answer(ctx, open, refusal(operation.refused), true);
  start(ctx, target.store, operation, open);
}

/**
 * Ends the open calls of a session whose rights have been narrowed: their operations are cancelled, and each is answered by
 * an error.
 *
 * @param isPermitted whether the session may still make a call that writes, or one that does not
 */
export function revokeMemoryCalls(
  ctx: ReducerContext,
  session: string,
  isPermitted: (call: { readonly writes: boolean }) => boolean,
): void {
  const calls = tableOf(ctx);
  for (let page = calls.range(); page.length > 0; page = calls.range({ after: page.at(-1)?.[0] ?? '' })) {
    for (const [at, open] of page) {
      if (open.call?.session !== session || isPermitted({ writes: open.origin !== null })) continue;
      ctx.cancel(Number(at));
      calls.delete(at);
      answer(ctx, open, refusal('revoked'), true);
    }
  }
}

/**
 * Does an operation for the owner itself. The outcome comes from {@link memoryNews}, with the tag.
 *
 * @param of what it does, in which store; `tag` has at most 256 characters
 */
export function memoryOperate(
  ctx: ReducerContext,
  { store, operation, tag }: { readonly store: string; readonly operation: MemoryOperation; readonly tag: string },
): void {
  start(ctx, store, operation, { call: null, origin: null, tag });
}

/**
 * Takes an event of `memoryEvents`, and answers the call that it ends.
 *
 * @returns the outcome; `other` for an event that has nothing to do with memory
 */
export function memoryNews(
  ctx: ReducerContext,
  event: { readonly name: string; readonly value: unknown },
): MemoryNews | 'other' {
  requireMethods(ctx, ['send', 'emit'], 'memoryNews(ctx)', 'the ctx of a reducer');
  requireFields(event, 'memoryNews(event)', 'the event of the reducer');
  if (event.name === 'memory/Done@1') {
    const news = ctx.plan === null ? undefined : ended(ctx, ctx.plan, event.value as z.infer<typeof memoryDone>);
    return news ?? ctx.reject('no_call');
  }
  if (event.name !== 'sys/PlanFailed@1') return 'other';
  const { plan } = event.value as z.infer<(typeof NOTICES)['sys/PlanFailed@1']>;
  const code = 'internal_invariant_violation';
  const reply = { value: { code, hint: '' }, refs: [] };
  return ended(ctx, plan[2], { store: null, op: 'read', code, written: null, reply }) ?? 'other';
}

function ended(
  ctx: ReducerContext,
  plan: number,
  { store, op, code, written, reply }: Omit<MemoryDone, 'store'> & { readonly store: string | null },
): MemoryNews | undefined {
  const open = tableOf(ctx).get(itemKey(plan));
  if (open === undefined) return undefined;
  tableOf(ctx).delete(itemKey(plan));
  if (open.call === null) ctx.record('memory/Did@1', { tag: open.tag, op, code, written });
  else answer(ctx, open, reply, code !== null);
  return { store, op, code, written, reply, origin: open.origin, tag: open.tag };
}

function start(ctx: ReducerContext, store: string, operation: MemoryOperation, open: OpenMemoryCall): void {
  const plan = ctx.emit({ plan: operatePlan, input: { store, operation } });
  tableOf(ctx).set(itemKey(plan), { ...open, origin: operation.op === 'store' ? operation.origin : null });
}

function operationOf<T extends MemoryTool>(
  ctx: ReducerContext,
  tool: T,
  given: unknown,
  call: OwnerCall,
  target: MemoryTarget,
): MemoryOperation | { readonly refused: string } {
  switch (tool) {
    case 'memory_query': {
      const {
        query,
        ids,
        k = SEARCH_ITEMS_DEFAULT,
        tags,
        include_archived = false,
      } = given as MemoryCallOf<'memory_query'>;
      if (ids !== undefined) return query === undefined ? { op: 'read', ids } : { refused: 'query_or_ids' };
      if (query === undefined) return { refused: 'query_or_ids' };
      return { op: 'search', query, k, ...(tags === undefined ? {} : { tags }), all: include_archived };
    }
    case 'memory_store':
      return storing(ctx, given as MemoryCallOf<'memory_store'>, call, target);
    case 'memory_update':
      return { op: 'update', ...(given as MemoryCallOf<'memory_update'>) };
    case 'memory_reinforce':
      return { op: 'reinforce', ...(given as MemoryCallOf<'memory_reinforce'>) };
    case 'memory_demote':
      return { op: 'demote', ...(given as MemoryCallOf<'memory_demote'>) };
    default:
      return { op: 'why', ...(given as MemoryCallOf<'memory_why'>) };
  }
}

/** Without a key a write is known by its call: the same call again is the same item. */
function storing(
  ctx: ReducerContext,
  { result_id, task_id, key, tags = [], content_ref, summary_ref }: MemoryCallOf<'memory_store'>,
  { session, call_id, step_epoch }: OwnerCall,
  { origin, has = () => false }: MemoryTarget,
): MemoryOperation | { readonly refused: string } {
  if (result_id !== undefined && !has({ kind: 'result', id: result_id })) return { refused: 'unknown_result' };
  if (task_id !== undefined && !has({ kind: 'task', id: task_id })) return { refused: 'unknown_task' };
  const named = {
    ...(result_id === undefined ? {} : { result: result_id }),
    ...(task_id === undefined ? {} : { task: task_id }),
  };
  return {
    op: 'store',
    key: key === undefined ? ctx.hash([session, step_epoch, call_id]) : `key:${key}`,
    origin: { ...origin, ...named },
    content_ref,
    summary_ref,
    tags,
  };
}

function answer(ctx: ReducerContext, { call }: OpenMemoryCall, reply: OwnerReply, isError: boolean): void {
  if (call === null) return;
  const { to, ...place } = call;
  ctx.send(to, { name: 'aos.agent/OwnerAnswer@1', value: { ...place, ...reply, is_error: isError } });
}

function refusal(code: string): OwnerReply {
  const value: Value = { code, hint: HINTS[code] ?? '' };
  return { value, refs: [] };
}

/** What a model can do about a refusal. */
const HINTS: Readonly<Record<string, string>> = {
  query_or_ids: 'Give either words to search for, or the numbers of items.',
  revoked: 'The rights for this were taken away meanwhile. What was to be written may have been written.',
  unknown_result: 'Name a result that exists, by its number.',
  unknown_task: 'Name a task that exists, by its number.',
};

function tableOf(ctx: ReducerContext): Table<OpenMemoryCall> {
  return ctx.table<OpenMemoryCall>('memory_calls');
}
