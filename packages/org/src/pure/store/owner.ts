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
  present,
  requireArgument,
  requireFields,
  requireKnownOptions,
  requireMethods,
  type Value,
} from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { allRows, type ReducerContext } from '@reprise/kernel/define';
import { type ArgumentSchema, answerCall, answering, parsedCall, refusalAnswer, waitingCallOf } from '../kit/calls.js';
import { startFor, takePurpose } from '../kit/purposes.js';
import { type Hints, Refused } from '../kit/refusal.js';
import {
  type MemoryCallOf,
  type MemoryDone,
  type MemoryOperation,
  type MemoryTool,
  memoryCalls,
  type memoryDone,
  type memoryTables,
  type OpenMemoryCall,
} from './calls.js';
import type { ItemOrigin, Place } from './item.js';
import { SEARCH_ITEMS_DEFAULT, storeAt } from './names.js';
import { operatePlan } from './plans.js';

/** What a reducer may do that declares the tables of memory. */
type MemoryContext = ReducerContext<typeof memoryTables>;

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
  return Object.hasOwn(memoryCalls, name);
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
  const waiting = waitingCallOf(call, ctx);
  answering(ctx, waiting, HINTS, () => {
    if (!isMemoryTool(call.name)) throw new Refused('unknown_tool');
    const operation = OPERATIONS[call.name](call.args, call, { ctx, target });
    start(ctx, target.store, operation, { call: waiting, tag: call.call_id });
    return undefined; // the plan answers
  });
}

/**
 * Ends the open calls of a session whose rights have been narrowed: their operations are cancelled, and each is answered by
 * an error.
 *
 * @param isPermitted whether the session may still make a call that writes, or one that does not
 */
export function revokeMemoryCalls(
  ctx: MemoryContext,
  session: string,
  isPermitted: (call: { readonly writes: boolean }) => boolean,
): void {
  const calls = ctx.table('memory_calls');
  for (const [at, { call, origin }] of allRows(calls)) {
    if (call?.session !== session || isPermitted({ writes: origin !== null })) continue;
    ctx.cancel(Number(at));
    calls.delete(at);
    answerCall(ctx, call, refusalAnswer(new Refused('revoked'), HINTS));
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
  start(ctx, store, operation, { call: null, tag });
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
  ctx: MemoryContext,
  plan: number,
  { store, op, code, written, reply }: Omit<MemoryDone, 'store'> & { readonly store: string | null },
): MemoryNews | undefined {
  const open = takePurpose(ctx.table('memory_calls'), plan);
  if (open === undefined) return undefined;
  const { call, origin, tag } = open;
  if (call === null) ctx.record('memory/Did@1', { tag, op, code, written });
  else answerCall(ctx, call, { ...reply, is_error: code !== null });
  return { store, op, code, written, reply, origin, tag };
}

function start(
  ctx: MemoryContext,
  store: string,
  operation: MemoryOperation,
  { call, tag }: Pick<OpenMemoryCall, 'call' | 'tag'>,
): void {
  const origin = operation.op === 'store' ? operation.origin : null;
  startFor(ctx, ctx.table('memory_calls'), { plan: operatePlan, input: { store, operation } }, { call, origin, tag });
}

/** What a call is made in: the delivery and the store. */
interface CalledIn {
  readonly ctx: ReducerContext;
  readonly target: MemoryTarget;
}

type OperationOf<A> = (args: A, call: OwnerCall, at: CalledIn) => MemoryOperation;

/** The operation that a tool asks for, from the arguments as they came. */
function asks<A>(
  { call: schema }: { readonly call: ArgumentSchema<A> },
  operation: OperationOf<A>,
): OperationOf<Value> {
  return (args, call, at) => operation(parsedCall(schema, args), call, at);
}

/** The operation that each tool asks for. @throws Refused */
const OPERATIONS: { readonly [T in MemoryTool]: OperationOf<Value> } = {
  memory_query: asks(
    memoryCalls.memory_query,
    ({ query, ids, k = SEARCH_ITEMS_DEFAULT, tags, include_archived = false }) => {
      if ((ids === undefined) === (query === undefined)) throw new Refused('query_or_ids');
      if (ids !== undefined) return { op: 'read', ids };
      return { op: 'search', ...present({ query, tags }), k, all: include_archived };
    },
  ),
  memory_store: asks(memoryCalls.memory_store, storing),
  memory_update: asks(memoryCalls.memory_update, (args) => ({ op: 'update', ...args })),
  memory_reinforce: asks(memoryCalls.memory_reinforce, (args) => ({ op: 'reinforce', ...args })),
  memory_demote: asks(memoryCalls.memory_demote, (args) => ({ op: 'demote', ...args })),
  memory_why: asks(memoryCalls.memory_why, (args) => ({ op: 'why', ...args })),
};

/** Without a key a write is known by its call: the same call again is the same item. */
function storing(
  { result_id, task_id, key, tags = [], content_ref, summary_ref }: MemoryCallOf<'memory_store'>,
  { session, call_id, step_epoch }: OwnerCall,
  { ctx, target: { origin, has = () => false } }: CalledIn,
): MemoryOperation {
  if (result_id !== undefined && !has({ kind: 'result', id: result_id })) throw new Refused('unknown_result');
  if (task_id !== undefined && !has({ kind: 'task', id: task_id })) throw new Refused('unknown_task');
  return {
    op: 'store',
    key: key === undefined ? ctx.hash([session, step_epoch, call_id]) : `key:${key}`,
    origin: { ...origin, ...present({ result: result_id, task: task_id }) },
    content_ref,
    summary_ref,
    tags,
  };
}

/** What a model can do about a refusal. */
const HINTS: Hints = {
  query_or_ids: 'Give either words to search for, or the numbers of items.',
  revoked: 'The rights for this were taken away meanwhile. What was to be written may have been written.',
  unknown_result: 'Name a result that exists, by its number.',
  unknown_task: 'Name a task that exists, by its number.',
};
