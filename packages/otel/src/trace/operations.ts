/** What agents do: calls of models (`chat`), of tools (`execute_tool`), and memory operations. */
import type { DerivedOf, IngressOf, LlmGenerateParams, LlmGenerateReceipt, Receipt, Ref } from '@reprise/contracts';
import {
  ATTRIBUTES,
  NEWER_ATTRIBUTES,
  NEWER_OPERATIONS,
  NO_PROVIDER,
  OPERATIONS,
  REPRISE,
} from '../names/conventions.js';
import { providerOf } from '../names/providers.js';
import { EFFECTS, REDUCERS } from '../names/wire.js';
import { type Known, keyOf } from './known.js';
import { below, type Ending, type Here, type OpenSpan, type OpenSpans, type Position } from './open-spans.js';
import { attributesOf, type FactOf, type Runs } from './runs.js';
import type { SpanAttribute, SpanContent } from './span.js';

/** How an effect was settled: by its adapter, a person, the gate or the end of its plan. */
type Settled = Pick<Receipt, 'status' | 'code' | 'payload' | 'usage' | 'asked' | 'response_model' | 'first_chunk_ms'>;

/** Calls of models and tools, and memory operations. */
export class Operations {
  constructor(
    private readonly spans: OpenSpans,
    private readonly known: Known,
    private readonly runs: Runs,
  ) {}

  /** A plan emits an effect; most have no span. */
  emitted(here: Here, record: DerivedOf<'effect'>): void {
    if (record.name === EFFECTS.model) this.#chatBegins(here, record);
    else if (record.name.startsWith('memory.')) this.#memoryBegins(here, record);
  }

  /** An attempt of an effect is armed: the first one is when the operation is initiated. */
  attempted(here: Here, { effect, attempt }: Pick<IngressOf<'attempt'>, 'effect' | 'attempt'>): void {
    const span = this.spans.find('effect', effect);
    if (span === undefined) return;
    if (attempt === 1) span.startMs = here.at;
    else
      this.spans.addEvent(span, { name: 'reprise.attempt', at: here.at, attributes: { [REPRISE.attempts]: attempt } });
  }

  /** An effect has its outcome. */
  settled(here: Here, effect: string, outcome: Settled, more: Readonly<Record<string, SpanAttribute>> = {}): void {
    const span = this.spans.find('effect', effect);
    if (span === undefined) return;
    const ending = endingOf(outcome);
    if (span.kind === 'client') this.#chatEnds(here, span, outcome, { ...ending, attributes: more });
    else this.spans.end(span, here, { ...ending, attributes: { ...more, ...recordsIn(span, outcome.payload) } });
  }

  /** A memory resolves an operation in the frame that emits it: its answer names the record. */
  answered(effect: string, payload: unknown): void {
    const span = this.spans.find('effect', effect);
    if (span !== undefined) Object.assign(span.attributes, recordsIn(span, payload));
  }

  callRequested(here: Here, session: string, fact: FactOf<'aos.agent/ToolCallRequested@1'>): void {
    const { turn, step, call_id, tool, args_ref } = fact;
    const key = keyOf([session, call_id]);
    const open = this.spans.find('call', key);
    const run = this.spans.find('run', session);
    if (open !== undefined) this.spans.addEvent(open, { name: 'reprise.attempt', at: here.at, attributes: {} });
    if (open !== undefined || run === undefined) return;
    this.#callBegins(here, { session, call_id, tool, run, step: `t${turn}/s${step}`, content: { args: args_ref } });
  }

  callWaits(here: Here, session: string, { call_id, for: of }: FactOf<'aos.agent/ToolCallWaiting@1'>): void {
    const span = this.spans.find('call', keyOf([session, call_id]));
    if (span === undefined) return;
    this.spans.addEvent(span, { name: 'reprise.waiting', at: here.at, attributes: { [REPRISE.waitsFor]: of } });
  }

  callSettled(here: Here, session: string, fact: FactOf<'aos.agent/ToolCallSettled@1'>): void {
    const { turn, step, call_id, tool, outcome } = fact;
    const key = keyOf([session, call_id]);
    const run = this.spans.find('run', session);
    // A call that was refused was never begun: it is a span without a duration.
    if (this.spans.find('call', key) === undefined && run !== undefined)
      this.#callBegins(here, { session, call_id, tool, run, step: `t${turn}/s${step}`, content: {} });
    const span = this.spans.find('call', key);
    if (span === undefined) return;
    this.known.callEnded(span);
    this.spans.end(span, here, endingOfCall(outcome));
  }

  #callBegins(
    here: Here,
    call: {
      readonly session: string;
      readonly call_id: string;
      readonly tool: string;
      readonly run: OpenSpan;
      readonly step: string;
      readonly content: SpanContent;
    },
  ): void {
    const { session, call_id, tool, run, step, content } = call;
    const { [ATTRIBUTES.agentName]: agent, [ATTRIBUTES.agentId]: agentId } = run.attributes;
    this.spans.begin(
      here,
      {
        ...{ of: 'call', key: keyOf([session, call_id]), name: `${OPERATIONS.tool} ${tool}`, content },
        attributes: {
          [ATTRIBUTES.operation]: OPERATIONS.tool,
          [ATTRIBUTES.toolName]: tool,
          [ATTRIBUTES.toolCallId]: call_id,
          [ATTRIBUTES.toolType]: 'function',
          [ATTRIBUTES.conversationId]: session,
          ...(agent === undefined ? {} : { [ATTRIBUTES.agentName]: agent }),
          ...(agentId === undefined ? {} : { [ATTRIBUTES.agentId]: agentId }),
          [REPRISE.step]: step,
        },
      },
      below(run),
    );
  }

  #chatBegins(here: Here, { effect, plan, params }: DerivedOf<'effect'>): void {
    // The effect's own schema checked the parameters before they were journaled.
    const asked = params as unknown as LlmGenerateParams;
    const { model, session, max_tokens, temperature, response_format_ref, summarise, window } = asked;
    const run = plan[0] === REDUCERS.session ? this.spans.find('run', plan[1]) : undefined;
    // The run knows its agent for as long as it lasts, also when its session was closed meanwhile.
    const of = run?.attributes ?? attributesOf(session.key, this.known.sessions.get(session.key));
    const about = ABOUT_AGENT.flatMap((name) => (of[name] === undefined ? [] : [[name, of[name]] as const]));
    this.spans.begin(
      here,
      {
        ...{ of: 'effect', key: effect, name: `${OPERATIONS.chat} ${model}`, kind: 'client' },
        attributes: {
          ...Object.fromEntries(about),
          [ATTRIBUTES.operation]: OPERATIONS.chat,
          [ATTRIBUTES.provider]: NO_PROVIDER,
          [ATTRIBUTES.conversationId]: session.key,
          [ATTRIBUTES.requestModel]: model,
          ...(max_tokens === undefined ? {} : { [ATTRIBUTES.requestMaxTokens]: max_tokens }),
          ...(temperature === undefined ? {} : { [ATTRIBUTES.requestTemperature]: temperature }),
          ...(response_format_ref === undefined ? {} : { [ATTRIBUTES.outputType]: 'json' }),
          ...(summarise === undefined ? {} : { [REPRISE.step]: 'summary' }),
        },
        content: {
          prompt: {
            ...{ system: asked.system_ref, head: asked.context_head, from: window.from },
            ...(summarise === undefined ? {} : { to: summarise.to }),
          },
        },
      },
      run === undefined ? this.#own(here, plan) : below(run),
    );
  }

  #chatEnds(here: Here, span: OpenSpan, outcome: Settled, ending: Ending): void {
    const { payload, usage, response_model, first_chunk_ms } = outcome;
    const answer = outcome.status === 'ok' ? (payload as unknown as LlmGenerateReceipt | undefined) : undefined;
    const asked = outcome.asked ?? askedBefore(answer);
    const finish = answer?.finish_reason;
    const details = answer?.usage_details;
    const run = this.#runAbove(span);
    if (run !== undefined) this.runs.called(run, asked, finish, usage);
    const said: readonly (readonly [string, SpanAttribute | undefined])[] = [
      [ATTRIBUTES.provider, asked && providerOf(asked)],
      [ATTRIBUTES.requestModel, asked?.model],
      [ATTRIBUTES.requestStream, first_chunk_ms === undefined ? undefined : true],
      [ATTRIBUTES.responseModel, response_model],
      [ATTRIBUTES.responseId, answer?.provider_response_id],
      [ATTRIBUTES.responseFinishReasons, finish && [finish]],
      [ATTRIBUTES.responseTimeToFirstChunk, first_chunk_ms === undefined ? undefined : first_chunk_ms / 1_000],
      [ATTRIBUTES.usageInput, usage?.tokens_in],
      [ATTRIBUTES.usageOutput, usage?.tokens_out],
      [ATTRIBUTES.usageCacheRead, details?.tokens_cache_read ?? usage?.tokens_cached],
      [ATTRIBUTES.usageCacheCreation, details?.tokens_cache_write],
      [ATTRIBUTES.usageReasoning, details?.tokens_reasoning],
    ];
    this.spans.end(span, here, {
      ...ending,
      name: asked && `${OPERATIONS.chat} ${asked.model}`,
      attributes: { ...given(said), ...ending.attributes },
      content: answer === undefined ? {} : { output: answer.output_ref },
    });
  }

  #runAbove(span: OpenSpan): OpenSpan | undefined {
    const session = span.attributes[ATTRIBUTES.conversationId];
    const run = typeof session === 'string' ? this.spans.find('run', session) : undefined;
    return run?.spanId === span.path[0]?.spanId ? run : undefined;
  }

  #memoryBegins(here: Here, { effect, plan, name, params }: DerivedOf<'effect'>): void {
    const operation = operationOf(name, params);
    if (operation === undefined) return;
    // The effect's own schema checked the parameters before they were journaled.
    const { store, operation: write, ids } = params as unknown as MemoryParams;
    const id = write?.id;
    const count = write === undefined ? ids?.length : 1;
    this.spans.begin(
      here,
      {
        ...{ of: 'effect', key: effect, name: operation },
        attributes: {
          [ATTRIBUTES.operation]: operation,
          [NEWER_ATTRIBUTES.memoryStoreId]: store,
          ...(id === undefined ? {} : { [NEWER_ATTRIBUTES.memoryRecordId]: recordId(store, id) }),
          ...(count === undefined ? {} : { [NEWER_ATTRIBUTES.memoryRecordCount]: count }),
        },
      },
      this.known.plans.get(keyOf(plan)) ??
        this.known.behind(this.spans, here) ??
        this.#ofCell(plan) ??
        this.#own(here, plan),
    );
  }

  /** What is open of the cell that acts: a tree, a project, the run of a session. */
  #ofCell([reducer, key]: readonly [string, string, number]): Position | undefined {
    const of = reducer === REDUCERS.tree ? 'tree' : reducer === REDUCERS.project ? 'project' : 'run';
    const span = of === 'run' && reducer !== REDUCERS.session ? undefined : this.spans.find(of, key);
    return span && below(span);
  }

  /** A trace of its own: of the cell that acts, from this frame. */
  #own({ seq }: Here, [reducer, key]: readonly [string, string, number]): readonly [string, string, number] {
    return [reducer, key, seq];
  }
}

/** What a model call says of the agent that makes it. */
const ABOUT_AGENT = [ATTRIBUTES.agentName, ATTRIBUTES.agentId] as const;

interface MemoryParams {
  readonly store: string;
  readonly operation?: { readonly op: string; readonly id?: number };
  readonly ids?: readonly number[];
}

function operationOf(name: string, params: unknown): string | undefined {
  if (name === EFFECTS.memorySearch || name === EFFECTS.memoryRead) return NEWER_OPERATIONS.searchMemory;
  if (name !== EFFECTS.memoryWrite) return undefined;
  return (params as MemoryParams).operation?.op === 'store'
    ? NEWER_OPERATIONS.createMemory
    : NEWER_OPERATIONS.updateMemory;
}

function recordId(store: string, id: number): string {
  return `${store}#${id}`;
}

/** What the answer of a memory says of records: the one that was written, or how many were found. */
function recordsIn(span: OpenSpan, payload: unknown): Record<string, SpanAttribute> {
  const store = span.attributes[NEWER_ATTRIBUTES.memoryStoreId];
  const { id, items } = (payload ?? {}) as { readonly id?: unknown; readonly items?: unknown };
  return {
    ...(typeof id === 'number' && typeof store === 'string'
      ? { [NEWER_ATTRIBUTES.memoryRecordId]: recordId(store, id) }
      : {}),
    ...(Array.isArray(items) ? { [NEWER_ATTRIBUTES.memoryRecordCount]: items.length } : {}),
  };
}

/** Whom a call asked, in receipts of older builds. */
function askedBefore(answer: LlmGenerateReceipt | undefined): Receipt['asked'] {
  const by = (answer as { readonly by?: Receipt['asked'] } | undefined)?.by;
  return typeof by?.model === 'string' && typeof by.profile === 'string' ? by : undefined;
}

/** A cancelled operation has not failed. */
function endingOf({ status, code }: Settled): Ending {
  if (status === 'ok') return {};
  return status === 'cancelled' ? { status } : { error: code ?? status };
}

type CallOutcome = FactOf<'aos.agent/ToolCallSettled@1'>['outcome'];

function endingOfCall(outcome: CallOutcome): Ending {
  if ('non_execution' in outcome) {
    const { kind, code } = outcome.non_execution;
    const isError = kind === 'failed' || kind === 'denied' || kind === 'outcome_unknown';
    return isError ? { error: code ?? kind } : { status: kind };
  }
  if ('children' in outcome) return {};
  if ('answer' in outcome) return outcome.is_error ? { error: 'refused' } : {};
  const content: { readonly result: Ref } = { result: outcome.output_ref };
  return outcome.is_error ? { error: outcome.error_code ?? 'tool_error', content } : { content };
}

function given(said: readonly (readonly [string, SpanAttribute | undefined])[]): Record<string, SpanAttribute> {
  return Object.fromEntries(said.filter((one): one is readonly [string, SpanAttribute] => one[1] !== undefined));
}
