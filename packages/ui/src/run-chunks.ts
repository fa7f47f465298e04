/**
 * Turns a run's events, and its model's streamed output, into the chunks of one message.
 *
 * Owns: which event becomes which chunks, and their order. Does not own: the source of events (`stream.ts`), and texts
 * that are streamed twice (`spoken-part.ts`).
 *
 * Invariants
 * U1  The same events give the same chunks: a client that reconnects from the beginning sees the same message and id.
 * U2  Every part that starts also ends, and the end of the run is the last chunk.
 */
import type { AgentEvent, AgentEventOf, Delta, StopReason } from '@reprise/agent';
import type { ChildData, Json, RunMetadata, UiChunk } from './chunk.js';
import { type SpokenKind, SpokenPart } from './spoken-part.js';

/** Options for turning events into chunks. */
export interface ChunkOptions {
  /** Tools whose calls become `dynamic-tool` parts. Default: no tools, so each call becomes a part `tool-NAME`. */
  readonly dynamic?: (tool: string) => boolean;
  /** The text for the person when a run fails. Default: the failure's code. */
  readonly errorText?: (stop: StopReason) => string;
}

/** Turns one run into chunks. */
export class RunChunks {
  /** Whether the run has ended. */
  ended = false;
  #hasBegun = false;
  /** The run that answers: it differs from the first one if that run ended before it read the input. */
  #answers: string;
  #input: string | undefined;
  /** The current step, and its texts. */
  #step: string | undefined;
  #spoken = new Map<SpokenKind, SpokenPart>();
  /** Pending questions to the person, by id. */
  readonly #questions = new Map<string, { readonly question: Json; readonly toolCallId: string | null }>();
  /** The calls that wait for a person's approval, by the approval's id. */
  readonly #approvals = new Map<string, string>();

  constructor(
    /** The run's id, which is also the message's id. */
    private readonly run: string,
    private readonly options: ChunkOptions = {},
  ) {
    this.#answers = run;
  }

  /** The chunks of the next event, or of a piece of an answer. */
  *take(event: AgentEvent | Delta): Generator<UiChunk> {
    if (event.type === 'delta') {
      if (event.channel !== 'tool_args') yield* this.#part(event.channel, event.step_id).say(event.text);
    } else if (event.type === 'delta.reset') {
      for (const part of this.#spoken.values()) part.again();
    } else {
      if (!this.#hasBegun) yield this.#begin(event);
      yield* this.#ofEvent(event);
    }
  }

  #begin({ session_id: session }: AgentEvent): UiChunk {
    this.#hasBegun = true;
    return { type: 'start', messageId: this.run, messageMetadata: { reprise: { session, run: this.run } } };
  }

  *#ofEvent(event: AgentEvent): Generator<UiChunk> {
    switch (event.type) {
      case 'llm_step.requested':
        yield* this.#beginStep(event.step_id);
        return;
      case 'llm_step.completed':
        yield* this.#endTexts(event);
        return;
      case 'llm_step.failed':
        for (const part of this.#spoken.values()) yield* part.drop();
        return;
      case 'tool.requested': {
        const { call_id: toolCallId, tool: toolName, args: input = null } = event;
        const dynamic = this.options.dynamic?.(toolName) === true ? { dynamic: true } : {};
        yield { type: 'tool-input-available', toolCallId, toolName, input, ...dynamic };
        return;
      }
      case 'tool.completed': {
        const output = event.text ?? (event.ref === undefined ? null : { ref: event.ref.toString() });
        yield { type: 'tool-output-available', toolCallId: event.call_id, output };
        return;
      }
      case 'tool.failed':
        yield this.#failed(event);
        return;
      case 'human.requested':
        yield* this.#requested(event);
        return;
      case 'human.resolved':
        yield* this.#settled(event);
        return;
      case 'child.spawned':
      case 'child.changed':
      case 'child.ended':
        yield childChunk(event);
        return;
      case 'input.accepted':
        this.#input ??= event.command_id;
        if (event.command_id === this.#input && event.moved_from !== undefined)
          this.#answers = event.run_id ?? this.run;
        return;
      case 'input.dropped':
        if (event.command_id === this.#input) yield* this.#end({}, { kind: 'Cancelled', dropped: event.why }, event);
        return;
      case 'command.accepted':
      case 'command.applied':
      case 'command.dropped': {
        const state = STEER_STATES[event.type];
        if (event.command === 'Steer') yield { type: 'data-steer', id: event.command_id, data: { state } };
        return;
      }
      case 'lifecycle':
        if (event.stop !== undefined && event.run_id === this.#answers) yield* this.#end(event, event.stop, event);
        return;
      default:
        return;
    }
  }

  *#beginStep(step: string | null): Generator<UiChunk> {
    if (step === null || step === this.#step) return; // the step is repeated
    yield* this.#endStep();
    this.#step = step;
    yield { type: 'start-step' };
  }

  *#endStep(): Generator<UiChunk> {
    for (const part of this.#spoken.values()) yield* part.end();
    this.#spoken = new Map();
    if (this.#step !== undefined) yield { type: 'finish-step' };
    this.#step = undefined;
  }

  /** U1: the final texts are in the journal. */
  *#endTexts({ step_id, text, reasoning = '' }: AgentEventOf<'llm_step.completed'>): Generator<UiChunk> {
    yield* this.#part('reasoning', step_id ?? this.run).end(reasoning);
    yield* this.#part('text', step_id ?? this.run).end(text);
    this.#spoken = new Map();
  }

  #part(kind: SpokenKind, step: string): SpokenPart {
    const known = this.#spoken.get(kind);
    if (known !== undefined) return known;
    const part = new SpokenPart(kind, step);
    this.#spoken.set(kind, part);
    return part;
  }

  #failed({ call_id: toolCallId, non_execution, text, code }: AgentEventOf<'tool.failed'>): UiChunk {
    const wasAsked = [...this.#approvals.values()].includes(toolCallId);
    if (non_execution?.kind === 'denied' && wasAsked) return { type: 'tool-output-denied', toolCallId };
    const errorText = text ?? [non_execution?.kind, code].filter((word) => word != null).join(': ');
    return { type: 'tool-output-error', toolCallId, errorText };
  }

  *#requested({ id, kind, call_id: toolCallId, tool, value }: AgentEventOf<'human.requested'>): Generator<UiChunk> {
    if (kind === 'approval') {
      if (toolCallId === null || tool === null) return;
      this.#approvals.set(id, toolCallId);
      yield { type: 'tool-approval-request', approvalId: id, toolCallId };
      return;
    }
    const asked = { question: (value ?? null) as Json, toolCallId };
    this.#questions.set(id, asked);
    yield { type: 'data-question', id, data: { ...asked, state: 'open' } };
  }

  *#settled({ id: first, how, also = [] }: AgentEventOf<'human.resolved'>): Generator<UiChunk> {
    for (const id of [first, ...also]) yield* this.#waitOver(id, how);
  }

  *#waitOver(id: string, how: AgentEventOf<'human.resolved'>['how']): Generator<UiChunk> {
    const asked = this.#questions.get(id);
    if (asked !== undefined) yield { type: 'data-question', id, data: { ...asked, state: how } };
    const toolCallId = this.#approvals.get(id);
    if (toolCallId !== undefined)
      yield { type: 'data-approval', id, data: { toolCallId, state: how }, transient: true };
  }

  /** U2 */
  *#end(
    { usage }: Pick<AgentEventOf<'lifecycle'>, 'usage'>,
    stop: StopReason,
    { session_id: session }: AgentEvent,
  ): Generator<UiChunk> {
    yield* this.#endStep();
    this.ended = true;
    const used = usage === undefined ? {} : { usage: pickUsage(usage) };
    const messageMetadata: RunMetadata = { reprise: { session, run: this.run, stop: stop.kind, ...used } };
    if (stop.kind === 'Completed') {
      yield { type: 'finish', finishReason: stop.warning === 'truncated' ? 'length' : 'stop', messageMetadata };
      return;
    }
    yield { type: 'message-metadata', messageMetadata };
    if (stop.kind === 'Cancelled') yield { type: 'abort', reason: 'cancelled' };
    else yield { type: 'error', errorText: this.options.errorText?.(stop) ?? failureText(stop) };
  }
}

const STEER_STATES = {
  'command.accepted': 'accepted',
  'command.applied': 'read',
  'command.dropped': 'dropped',
} as const;

function pickUsage({ steps, tokens_in, tokens_out }: NonNullable<AgentEventOf<'lifecycle'>['usage']>) {
  return { steps, tokens_in, tokens_out };
}

function failureText(stop: StopReason): string {
  if (stop.kind === 'Failed') return `The run failed: ${stop.code}.`;
  return stop.kind === 'LimitsExceeded' ? `The run reached its limit: ${stop.limit}.` : `The run ended: ${stop.kind}.`;
}

type ChildEvent = AgentEventOf<'child.spawned'> | AgentEventOf<'child.changed'> | AgentEventOf<'child.ended'>;

function childChunk(event: ChildEvent): UiChunk {
  const { child, session, agent } = event;
  const status = event.type === 'child.spawned' ? 'running' : event.status;
  const text = event.type === 'child.ended' && event.text !== undefined ? { text: event.text } : {};
  const data: ChildData = { child, session, agent, status, ...text };
  return { type: 'data-child', id: session, data };
}
