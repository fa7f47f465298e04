/** Calls a tool as the kernel would, over a memory store. */
import type { LlmGenerateParams } from '@reprise/contracts';
import type { Adapter, AdapterContext, AdapterOutcome, ContentStore } from '@reprise/kernel';
import { getBytes, memory, putValue } from '@reprise/kernel';
import type { ToolCallParams, ToolCallReceipt } from '../../src/contracts/index.js';
import {
  type Build,
  buildOf,
  type ContextSource,
  describeTools,
  type Schema,
  type Tool,
  type ToolAdapterOptions,
  toolCallAdapter,
} from '../../src/tools/index.js';

/** The session of every call here. */
export const SESSION = { key: 's-1', labels: { tier: 'new' } };

/** A content store of its own. */
export async function freshContent(): Promise<ContentStore> {
  return (await memory().open()).content;
}

/** What an adapter is told, unless a test says otherwise. */
export function adapterContext(content: ContentStore, over: Partial<AdapterContext> = {}): AdapterContext {
  return {
    idempotencyKey: 'a'.repeat(64),
    attempt: 1,
    deadline: null,
    signal: new AbortController().signal,
    content,
    progress: () => {},
    rights: async () => ({ may: {} }),
    ask: async () => ({ how: 'cancelled' }),
    secret: async (name) => `value of ${name}`,
    ...over,
  };
}

/** One agent with these tools, as a build. */
export function buildWith(
  tools: readonly Tool[],
  over: { readonly context?: readonly ContextSource[]; readonly returns?: Schema } = {},
): Build {
  return buildOf([{ name: 'a', tools, ...over }]);
}

/** A tool's adapter and the parameters of a call that was judged as it stands. */
export async function callOf(
  tool: Tool,
  args: unknown,
  content: ContentStore,
  options: Partial<ToolAdapterOptions> = {},
): Promise<{ adapter: Adapter<ToolCallParams, ToolCallReceipt>; params: ToolCallParams }> {
  const params: ToolCallParams = {
    tool: tool.name,
    call_id: 'c1',
    session: SESSION,
    args_ref: await putValue(content, args),
    fingerprint: tool.entry.fingerprint,
    guarantee: tool.entry.guarantee,
  };
  return { adapter: toolCallAdapter(buildWith([tool]), { now: () => 1_000, ...options }), params };
}

/** What a model reads of a call. */
export async function modelReads(content: ContentStore, outcome: unknown): Promise<string> {
  return textAt(content, payloadOf(outcome).model_output_ref);
}

/** The payload of a call that was answered. */
export function payloadOf(outcome: unknown): ToolCallReceipt {
  const { status, payload } = outcome as Extract<AdapterOutcome<ToolCallReceipt>, { status: 'ok' }>;
  if (status !== 'ok') throw new Error(`the outcome is ${status}`);
  return payload;
}

/** A text blob. */
export async function textAt(content: ContentStore, ref: ToolCallReceipt['model_output_ref']): Promise<string> {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await getBytes(content, ref));
}

/** The parameters of a model call by the agent `a` that was given these tools. */
export async function modelCall(
  content: ContentStore,
  tools: readonly Tool[],
  returns: object | null = null,
): Promise<LlmGenerateParams> {
  const empty = await putValue(content, []);
  const text = await content.put(new Uint8Array());
  const tools_ref = await putValue(content, describeTools(tools));
  const config = {
    agent: 'a',
    model: 'main',
    models: ['main'],
    options: {},
    system_ref: text,
    tools_ref,
    limits: {
      max_turns: 1,
      max_steps: 1,
      max_tool_rounds: 1,
      max_tool_calls_per_step: 1,
      max_depth: 0,
      max_children: 0,
      on_limit: 'fail',
    },
    loop: null,
    context_window: null,
    compaction: null,
    after_answer: 'complete',
    repair_ref: null,
    unknown_question_ref: text,
    spawns: [],
    cancel_grace_ms: 0,
  };
  return {
    model: 'main',
    session: SESSION,
    def_ref: await putValue(content, { type: 'aos.agent/AgentDef@1', config, returns, context: [] }),
    config_rev: 0,
    system_ref: text,
    tools_ref,
    context_head: empty,
    window: { from: 0 },
    prompt: 'test@1',
  };
}
