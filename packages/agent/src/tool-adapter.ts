/**
 * The adapter of `tool.call@1`.
 *
 * Invariants
 * T1  What the model can mend comes back as data it reads (`ok`, `is_error`): wrong arguments, a failing handler.
 * T2  What it cannot is a failed receipt: no such tool, a timeout, a cancellation, an unknown outcome.
 * T3  A handler that was told to stop and did not is never reported as not having happened, unless it is idempotent.
 */
import type { Value } from '@reprise/contracts';
import { RepriseError } from '@reprise/contracts';
import type { Adapter, AdapterContext, ContentStore, Outcome } from '@reprise/kernel';
import { decode, encode } from '@reprise/kernel';
import * as z from 'zod';
import type { OutputPolicy } from './bound-output.js';
import { boundOutput, MODEL_OUTPUT_POLICY } from './bound-output.js';
import { type ToolCallParams, type ToolCallReceipt, toolCall } from './contracts/tool-call.js';
import { isToolError, type Tool, type ToolContext } from './tool.js';
import { readValue } from './transcript.js';

/** How long a handler that was told to stop may take to do so, in milliseconds, before it is left behind. */
const STOP_GRACE_MS = 1_000;

/** The longest message about an error that a model reads, in UTF-16 units: enough to mend a call. */
const MESSAGE_LENGTH_MAX = 2_000;

/** How tool outputs are bounded for the model; the operator's copy is always whole. */
export interface ToolOutputPolicies {
  /** For every tool without its own. Default {@link MODEL_OUTPUT_POLICY}. */
  readonly model?: OutputPolicy;
  /** By tool name. */
  readonly byTool?: Readonly<Record<string, OutputPolicy>>;
}

/**
 * The adapter that performs `tool.call@1` with these tools.
 *
 * @param tools what may be called; a call of anything else is `tool_not_found`
 * @throws RepriseError `duplicate_definition` when two tools share a name
 */
export function toolCallAdapter(
  tools: readonly Tool[],
  options: { readonly policies?: ToolOutputPolicies } = {},
): Adapter<ToolCallParams, ToolCallReceipt> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (byName.has(tool.name)) {
      throw new RepriseError('duplicate_definition', `two tools are called ${tool.name}`, { hint: 'Rename one.' });
    }
    byName.set(tool.name, tool);
  }
  return {
    effect: toolCall,
    name: 'reprise.tools',
    doExecute: (params, context) => performCall(byName.get(params.tool), params, context, options.policies ?? {}),
  };
}

async function performCall(
  tool: Tool | undefined,
  params: ToolCallParams,
  context: AdapterContext,
  policies: ToolOutputPolicies,
): Promise<Outcome<ToolCallReceipt>> {
  if (tool === undefined) return { status: 'error', code: 'tool_not_found', retryable: false };
  const policy = policies.byTool?.[tool.name] ?? policies.model ?? MODEL_OUTPUT_POLICY;
  const store = (answer: Answer) => settle(answer, policy, context.content);
  const parsed = await tool.args.safeParseAsync(await readValue(context.content, params.args_ref));
  if (!parsed.success) return store(argsInvalid(tool, parsed.error));
  const run = await runHandler(tool, parsed.data, context, params.delivery);
  return run.done ? store(run.answer) : run.outcome;
}

interface Answer {
  readonly text: string;
  readonly error?: 'tool_args_invalid' | 'adapter_error';
}

type Run =
  | { readonly done: true; readonly answer: Answer }
  | { readonly done: false; readonly outcome: Outcome<ToolCallReceipt> };

/** Runs the handler to its end, or until it was told to stop and had its grace. */
async function runHandler(
  tool: Tool,
  args: unknown,
  context: AdapterContext,
  delivery: ToolCallParams['delivery'],
): Promise<Run> {
  if (context.signal.aborted) return { done: false, outcome: { status: 'cancelled' } };
  const stop = new Stop(context.signal, tool.timeoutMs);
  try {
    const handler = answerOf(tool, args, { ...toolContext(context), signal: stop.signal });
    const first = await Promise.race([handler, stop.abandoned]);
    const stillRunning = first === 'abandoned';
    // An answer that came in spite of the stop is what happened; a failure after it is the stop's doing.
    const answered = !stillRunning && !(stop.signal.aborted && first.error !== undefined);
    if (answered) return { done: true, answer: first };
    return { done: false, outcome: stoppedOutcome(stop.timedOut, stillRunning, delivery) };
  } finally {
    stop.dispose();
  }
}

function stoppedOutcome(
  timedOut: boolean,
  stillRunning: boolean,
  delivery: ToolCallParams['delivery'],
): Outcome<ToolCallReceipt> {
  if (stillRunning && delivery !== 'idempotent') return { status: 'outcome_unknown' }; // T3
  return timedOut ? { status: 'timeout', code: 'adapter_timeout' } : { status: 'cancelled' };
}

/** Tells a handler to stop, on the caller's signal or after a time, and then waits for it a little longer. */
class Stop {
  readonly #inner = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout | undefined;
  #grace: NodeJS.Timeout | undefined;
  #abandon: (what: 'abandoned') => void = () => {};
  /** Resolves when the handler's grace is over. */
  readonly abandoned = new Promise<'abandoned'>((resolve) => {
    this.#abandon = resolve;
  });
  /** Whether time ran out before anybody cancelled. */
  timedOut = false;

  constructor(outer: AbortSignal, timeoutMs: number | undefined) {
    this.#outer = outer;
    outer.addEventListener('abort', this.#stop, { once: true });
    if (timeoutMs !== undefined) this.#timer = setTimeout(this.#timeOut, timeoutMs);
  }

  /** What the handler is given. */
  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  dispose(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#grace);
    this.#outer.removeEventListener('abort', this.#stop);
  }

  readonly #timeOut = () => {
    this.timedOut = !this.#inner.signal.aborted;
    this.#stop();
  };

  readonly #stop = () => {
    if (this.#inner.signal.aborted) return;
    this.#grace = setTimeout(() => this.#abandon('abandoned'), STOP_GRACE_MS);
    this.#inner.abort();
  };
}

function toolContext(context: AdapterContext): Omit<ToolContext, 'signal'> {
  return {
    idempotencyKey: context.idempotencyKey,
    attempt: context.attempt,
    content: context.content,
    progress: (note) => context.progress(note),
    secret: (name) => context.secret(name),
  };
}

async function answerOf(tool: Tool, args: unknown, context: ToolContext): Promise<Answer> {
  try {
    const result = await tool.run(args, context);
    if (isToolError(result)) return { text: short(result.message), error: 'adapter_error' };
    return { text: typeof result === 'string' ? result : jsonText(result) };
  } catch (error) {
    return { text: short(`The tool ${tool.name} failed: ${messageOf(error)}`), error: 'adapter_error' };
  }
}

/** Data as the model reads it: JSON with keys in canonical order, so equal data is equal text. */
function jsonText(data: Value): string {
  return JSON.stringify(decode(encode(data)), (_key, part: unknown) => {
    if (part instanceof Uint8Array)
      throw new TypeError('it returned bytes; put them into the content store and return the link');
    return part;
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function short(text: string): string {
  return text.length > MESSAGE_LENGTH_MAX ? `${text.slice(0, MESSAGE_LENGTH_MAX)}…` : text;
}

function argsInvalid(tool: Tool, error: z.ZodError): Answer {
  const problems = short(z.prettifyError(error));
  return {
    text: `The arguments do not fit the schema of ${tool.name}; nothing was done.\n${problems}\nCall it again with arguments that fit.`,
    error: 'tool_args_invalid',
  };
}

async function settle(answer: Answer, policy: OutputPolicy, content: ContentStore): Promise<Outcome<ToolCallReceipt>> {
  const whole = new TextEncoder().encode(answer.text);
  const bounded = boundOutput(whole, policy);
  return {
    status: 'ok',
    payload: {
      operator_output_ref: await content.put(whole),
      model_output_ref: await content.put(bounded.bytes),
      truncation_meta: bounded.meta,
      is_error: answer.error !== undefined,
      ...(answer.error === undefined ? {} : { error_code: answer.error }),
    },
  };
}
