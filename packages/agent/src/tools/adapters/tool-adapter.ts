/**
 * The adapter of `tool.call@1`.
 *
 * Invariants
 * T1  A failure that the model can correct is data it reads (`ok`, `is_error`): wrong arguments, a failing handler, a
 *     tool that has changed since the call was judged.
 * T2  A failure that it cannot correct is a failed receipt: an unknown tool, missing deps, a cancellation.
 * T3  A stopped handler is still awaited, and its answer is the outcome. The adapter never claims that a running call
 *     did not happen; the kernel decides when to stop waiting, and records a later answer as `late`.
 * T4  A call runs only with the meaning that it was judged by, since an approval is for that meaning; see
 *     `as-judged.ts`. A call that was judged without the tool's code has no meaning, and runs only when the tool never
 *     needs an approval. The handler of any other call is not started, and the receipt says what has changed.
 * T5  A call that was made is never reported as failed because its result was lost: it was done. When a handler throws
 *     because a file could not be stored, the outcome is unknown, since the handler may have acted.
 */
import type {
  Adapter,
  AdapterContext,
  AdapterOutcome,
  Deferred as DeferredOutcome,
  Reconciliation,
} from '@reprise/kernel';
import { encode } from '@reprise/kernel/codec';
import { getValue } from '@reprise/kernel/store';
import { deferEffect } from '@reprise/kernel/world';
import { type ChangedCall, type ToolCallParams, type ToolCallReceipt, toolCall } from '../../contracts/tool-call.js';
import type { OutputPolicy } from '../output/bound-output.js';
import { type OutputPolicies, policiesOf } from '../output/families.js';
import { failure, type Kept, keptAnswer, lost, openedStream, storeAnswer } from '../output/keep-answer.js';
import {
  type Deferral,
  isDeferral,
  isToolStream,
  isUnknownOutcome,
  outcomeUnknown,
  ResultLost,
  type ToolStream,
  type UnknownOutcome,
} from '../output/result.js';
import { check, messageOf } from '../schema/schema.js';
import { argsInvalidText, changedText, failedText } from '../schema/texts.js';
import { type HandlerOptions, handlerContext, type Made } from '../tool/handler-context.js';
import type { Tool } from '../tool/tool.js';
import { type Build, calledTool } from '../toolset/build.js';
import { changeOf } from './as-judged.js';

/** The options of the tool adapter. */
export interface ToolAdapterOptions extends HandlerOptions {
  /** Makes `ctx.deps` of handlers, by the labels of the session. Called for each call. */
  readonly deps?: (labels: Readonly<Record<string, string>>) => unknown;
  /** The agent of a session: selects its tool when several share a name. */
  readonly agentOf?: (session: string) => Promise<string | undefined>;
  /** The bounds of outputs for the model, by family; they override `FAMILY_POLICIES`. */
  readonly outputs?: OutputPolicies;
}

type Executed = AdapterOutcome<ToolCallReceipt> | DeferredOutcome;

/**
 * The adapter that executes `tool.call@1` with the handlers of a build; a call without a handler fails as
 * `tool_not_found`.
 *
 * @throws RepriseError `invalid_argument` when an output policy has no room for its marker
 */
export function toolCallAdapter(build: Build, options: ToolAdapterOptions): Adapter<ToolCallParams, ToolCallReceipt> {
  const policyOf = policiesOf(options.outputs);
  const callOf = async (params: ToolCallParams, context: AdapterContext): Promise<Call | undefined> => {
    const tool = await calledTool(build, params, context.content, options.agentOf);
    if (tool === undefined || tool.entry.kind !== 'tool') return undefined;
    return { tool, params, context, policy: policyOf(tool.entry.family), options };
  };
  return {
    effect: toolCall,
    name: 'reprise.tools',
    doExecute: async (params, context) => {
      const call = await callOf(params, context);
      return call === undefined ? { status: 'error', code: 'tool_not_found', retryable: false } : execute(call);
    },
    doReconcile: async (params, context) => {
      const call = await callOf(params, context);
      return call === undefined ? { verdict: 'unknown' } : reconcile(call);
    },
  };
}

/** The bound of a receipt: a larger one would exceed the bound of a value, and end the call as failed (T5). */
const RECEIPT_BYTES_MAX = 60 * 1024;

interface Call {
  readonly tool: Tool;
  readonly params: ToolCallParams;
  readonly context: AdapterContext;
  readonly policy: OutputPolicy;
  readonly options: ToolAdapterOptions;
}

async function execute(call: Call): Promise<Executed> {
  const { tool, params, context } = call;
  if (context.signal.aborted) return { status: 'cancelled' };
  const stored = await getValue(context.content, params.args_ref);
  const args = await check(tool.args, stored);
  const changed = await changeOf({ tool, params, context, args: stored, checked: args });
  if (changed !== undefined) return notRun(call, changed); // T4
  if (!args.ok) return receipt(call, failure(argsInvalidText(tool.name, args.problems), 'tool_args_invalid')); // T1
  const handler = await handlerOf(call);
  if (handler === undefined) return { status: 'error', code: 'adapter_error/deps', retryable: false }; // T2
  const answer = await answerOf(call, () => tool.run(args.value as never, handler.context), handler.made);
  if (isDeferral(answer)) return handOn(call, answer);
  if (isUnknownOutcome(answer)) {
    const status = context.signal.aborted ? 'cancelled' : 'outcome_unknown';
    return { status, ...(answer.error === undefined ? {} : { error: answer.error }) };
  }
  // A failure after the stop is caused by the stop; an answer after it is the outcome (T3).
  if (answer.error !== undefined && context.signal.aborted) return { status: 'cancelled', ...usedIn(answer) };
  return keptReceipt(call, answer, handler.made);
}

/** Asks the tool whether an interrupted call happened. When that fails, the outcome is unknown. */
async function reconcile(call: Call): Promise<Reconciliation<ToolCallReceipt>> {
  const { tool, params, context } = call;
  const ask = tool.reconcile;
  const args = await check(tool.args, await getValue(context.content, params.args_ref));
  const handler = ask === undefined || !args.ok ? undefined : await handlerOf(call);
  if (ask === undefined || !args.ok || handler === undefined) return { verdict: 'unknown' };
  try {
    const found = await ask(args.value as never, handler.context);
    if (found === 'not_done') return { verdict: 'cannot_happen' };
    if (typeof found !== 'object' || !('done' in found)) return { verdict: 'unknown' };
    const kept = await keptAnswer(found.done, tool.output, tool.name);
    return { verdict: 'happened', outcome: await receipt(call, kept, handler.made) };
  } catch (error) {
    context.report?.(error);
    return { verdict: 'unknown' };
  }
}

/** The receipt of a call that is not run, since its tool has changed (T4). */
async function notRun(call: Call, changed: ChangedCall): Promise<AdapterOutcome<ToolCallReceipt>> {
  const outcome = await receipt(call, failure(changedText(call.tool.name), 'validation_error'));
  return outcome.status === 'ok' ? { ...outcome, payload: { ...outcome.payload, changed } } : outcome;
}

async function handlerOf({ params, context, options }: Call): Promise<ReturnType<typeof handlerContext> | undefined> {
  try {
    const deps = await options.deps?.(params.session.labels);
    return handlerContext(params, context, deps, options);
  } catch (error) {
    context.report?.(error);
    return undefined;
  }
}

async function answerOf(
  { tool, context }: Call,
  run: () => unknown,
  made: Made,
): Promise<Kept | Deferral | UnknownOutcome> {
  let answer: unknown;
  try {
    answer = (await settled(run())).value;
  } catch (error) {
    context.report?.(error);
    if (error instanceof ResultLost) return lost(tool.name, scrubbed(error.message, context)); // T5
    if (made.unkept !== undefined) return outcomeUnknown(made.unkept.error); // T5
    return failure(scrubbed(failedText(tool.name, error), context), 'adapter_error');
  }
  try {
    if (!isToolStream(answer)) context.returned?.();
    if (isDeferral(answer) || isUnknownOutcome(answer)) return answer;
    return await keptAnswer(reporting(answer, context), tool.output, tool.name);
  } catch (error) {
    context.report?.(error);
    return lost(tool.name, scrubbed(messageOf(error), context)); // T5
  }
}

/**
 * Waits for what a handler returned. A thing that cannot be asked whether it is a promise was returned all the same, so
 * the call was done (T5). An async handler that returns one cannot be told apart from one that throws.
 */
async function settled(returned: unknown): Promise<{ readonly value: unknown }> {
  const then = thenOf(returned);
  if (typeof then !== 'function') return { value: returned };
  const value = await new Promise((resolve, reject) => Reflect.apply(then, returned, [resolve, reject]));
  return { value };
}

function thenOf(returned: unknown): unknown {
  try {
    return (returned as { readonly then?: unknown } | null | undefined)?.then;
  } catch (error) {
    throw new ResultLost(messageOf(error), { cause: error });
  }
}

/**
 * Makes the receipt of an executed call: when its result cannot be stored, that it was done; when that fails too, that
 * the outcome is unknown (T5).
 */
async function keptReceipt(call: Call, kept: Kept, made: Made): Promise<AdapterOutcome<ToolCallReceipt>> {
  try {
    const outcome = await receipt(call, kept, made);
    const { unkept } = made;
    const { payload } = outcome as { readonly payload?: ToolCallReceipt };
    if (encode(payload).length > RECEIPT_BYTES_MAX) {
      const why = 'the names of what it made take too much';
      return await receipt(call, kept.error === undefined ? { ...lost(call.tool.name, why), ...usedIn(kept) } : kept);
    }
    const broke = kept.failed?.() === true && unkept !== undefined;
    return broke ? { status: 'outcome_unknown', error: unkept.error, ...usedIn(kept) } : outcome;
  } catch (error) {
    if (kept.error !== undefined)
      return { status: 'error', code: 'adapter_error/output_not_stored', retryable: false, error, ...usedIn(kept) };
    const why = { ...lost(call.tool.name, messageOf(error)), ...usedIn(kept) };
    return receipt(call, why).catch(() => ({ status: 'outcome_unknown', error, ...usedIn(kept) }));
  }
}

/** An answer that is a stream: its failure is reported to the world as well as to the model. */
function reporting(answer: unknown, context: AdapterContext): unknown {
  if (!isToolStream(answer) || !(Symbol.asyncIterator in answer)) return answer;
  async function* pieces(stream: ToolStream): AsyncGenerator<unknown> {
    try {
      yield* openedStream(stream);
    } catch (error) {
      context.report?.(error);
      throw error;
    }
  }
  return pieces(answer);
}

/** Removes secrets from a text before it is cut, since half of a secret is not recognized. */
function scrubbed(text: string, { scrubber }: AdapterContext): string {
  return scrubber === undefined ? text : scrubber.scrub(text);
}

/** Removes secrets from an output before it is bounded for the model. */
function scrubbedOutput(output: Kept['output'], context: AdapterContext): Kept['output'] {
  if (typeof output === 'string') return scrubbed(output, context);
  return context.scrubber === undefined ? output : context.scrubber.pieces(output);
}

function handOn({ options }: Call, { expiresIn, to }: Deferral): DeferredOutcome {
  return deferEffect({
    ...(expiresIn === undefined ? {} : { expires: options.now() + expiresIn }),
    ...(to === undefined ? {} : { to }),
  });
}

async function receipt(
  { params, context, policy }: Call,
  kept: Kept,
  made: Made = { artifacts: [], changes: [], warnings: new Set() },
): Promise<AdapterOutcome<ToolCallReceipt>> {
  const whole = { ...kept, output: scrubbedOutput(kept.output, context) };
  const payload = await storeAnswer(whole, policy, context.content, made);
  const edited = params.asked_ref === undefined ? {} : { edited_args_ref: params.args_ref };
  return { status: 'ok', payload: { ...payload, ...edited }, ...usedIn(kept) };
}

function usedIn({ usage }: Kept): Pick<Kept, 'usage'> {
  return usage === undefined ? {} : { usage };
}
