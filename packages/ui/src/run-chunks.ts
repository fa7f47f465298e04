/**
 * Turns a run's events, and its model's streamed output, into the chunks of the message that answers one input.
 *
 * Owns: which event becomes which chunks, and their order. Does not own: the source of events (`stream.ts`), texts that
 * are streamed twice (`spoken-answer.ts`), and what a decision does to a call (`approvals.ts`).
 *
 * Invariants
 * U1  The same events give the same chunks: a client that reconnects from the beginning sees the same message and id.
 * U2  Every part that starts also ends, and the end of the answer is the last chunk.
 * U3  An answer is what the run does from the turn of its input until the run ends, waits for the next input, or takes
 *     it up. So each event of a run belongs to the answer of one input.
 * U4  Live output changes no order: a part that an event creates while a step answers comes behind the step's texts,
 *     which the journal tells only when the answer is complete.
 */
import type { AgentEvent, AgentEventOf, Delta, StopReason } from '@reprise/agent';
import { actorWords, failureMeaning, limitWords, present } from '@reprise/contracts';
import { Approvals } from './approvals.js';
import type { ChildData, DecisionData, Json, RunMetadata, SteerData, UiChunk } from './chunk.js';
import { maskedOutput, maskedText, type ToolFailure, toolFailure } from './failed-text.js';
import { SpokenAnswer } from './spoken-answer.js';

/** Options for turning events into chunks. */
export interface ChunkOptions {
  /** Tools whose calls become `dynamic-tool` parts. Default: no tools, so each call becomes a part `tool-NAME`. */
  readonly dynamic?: (tool: string) => boolean;
  /** The text for the person when a run fails. Default: what its code means, and the code. */
  readonly errorText?: (stop: StopReason) => string;
  /**
   * The text for the person when a call fails. Default: fixed words for the failure's code, and no text of an exception,
   * which may name hosts, paths and queries. With it, a result that was lost says why as well.
   *
   * @example toolErrorText: ({ text, code }) => text ?? code ?? 'failed' // for a page of operators
   */
  readonly toolErrorText?: (failure: ToolFailure) => string;
  /** Whether messages have the model's reasoning. Default true. The journal keeps it either way. */
  readonly sendReasoning?: boolean;
}

/** Turns the answer to one input into chunks. */
export class RunChunks {
  /** Whether the answer has ended. */
  ended = false;
  /** The message's id, once it has begun. */
  #message: string | undefined;
  /** The run that the input was announced for, or the one that it moved to. */
  #run: string;
  /** Whether the turn of the input has come. */
  #isOpen = false;
  #isCancelling = false;
  /** The current step, and its answer while the model gives it. */
  #step: string | undefined;
  #answer: SpokenAnswer | undefined;
  /** The parts that wait for the end of the answer. */
  #later: UiChunk[] = [];
  /** Pending questions to the person, by id. */
  readonly #questions = new Map<string, { readonly question: Json; readonly toolCallId: string | null }>();
  readonly #approvals = new Approvals();
  /** Who decided, by the id of the approval. */
  #decisions: Readonly<Record<string, DecisionData>> | undefined;
  /** The texts of inputs during the run, by their ids. */
  readonly #steers = new Map<string, string>();

  constructor(
    run: string,
    private readonly options: ChunkOptions = {},
    /** The input that is answered; by default the first one that is accepted. */
    private input?: string,
  ) {
    this.#run = run;
  }

  /** Whether the chunks so far show texts that may not be final: no reader gets these chunks again. */
  get hasLiveTexts(): boolean {
    return this.#answer?.isOpen === true;
  }

  /** The chunks of the next event, or of a piece of an answer. */
  *take(event: AgentEvent | Delta): Generator<UiChunk> {
    if (event.type === 'input.accepted') this.#announced(event);
    else if (event.type === 'input.dropped') yield* this.#dropped(event);
    else if (event.type === 'turn.started') yield* this.#turn(event);
    else if (event.type === 'lifecycle' && event.run_id === this.#run) yield* this.#moved(event);
    else if (this.#isOpen) yield* this.#ofAnswer(event);
  }

  #announced({ command_id, run_id }: AgentEventOf<'input.accepted'>): void {
    this.input ??= command_id;
    if (command_id === this.input && run_id !== null) this.#run = run_id;
  }

  *#dropped(event: AgentEventOf<'input.dropped'>): Generator<UiChunk> {
    if (event.command_id !== this.input || this.#isOpen || this.ended) return;
    yield this.#begin(event, `${this.#run}/${this.input}`);
    yield* this.#end({}, { kind: 'Cancelled', dropped: event.why }, event);
  }

  // U3
  *#turn(event: AgentEventOf<'turn.started'>): Generator<UiChunk> {
    const { command_id, origin, run_id, turn_id } = event;
    if (command_id !== undefined && command_id === this.input) {
      if (this.#isOpen || this.ended) return;
      this.#isOpen = true;
      const isFirst = turn_id === `${run_id}/t1`;
      yield this.#begin(event, isFirst ? `${run_id}` : `${run_id}/${command_id}`);
    } else if (!this.#isOpen || run_id !== this.#run) return;
    else if (origin !== 'steer' && command_id !== undefined) yield* this.#answered(event);
    else this.#goOn();
  }

  /** A steer continues an answer that had ended: the run was waiting for input. */
  #goOn(): void {
    this.ended = false;
    this.#isCancelling = false;
  }

  #begin(event: AgentEvent, id: string): UiChunk {
    this.#message = id;
    return { type: 'start', messageId: id, messageMetadata: this.#metadata(event) };
  }

  *#moved(event: AgentEventOf<'lifecycle'>): Generator<UiChunk> {
    const { stop, to, waiting } = event;
    if (this.ended || (!this.#isOpen && (stop === undefined || event.from !== 'Queued'))) return;
    if (to === 'Cancelling') this.#isCancelling = true;
    if (stop !== undefined) {
      if (this.#message === undefined) yield this.#begin(event, this.#run);
      yield* this.#end(event, stop, event);
    } else if (to === 'WaitingInput' && waiting?.for === 'input') yield* this.#answered(event);
  }

  /** The answer to this input has ended, and the run goes on. */
  *#answered(event: AgentEvent): Generator<UiChunk> {
    if (!this.ended) yield* this.#end({}, { kind: this.#isCancelling ? 'Cancelled' : 'Completed' }, event);
  }

  *#ofAnswer(event: AgentEvent | Delta): Generator<UiChunk> {
    if (event.type !== 'delta' && event.type !== 'delta.reset') yield* this.#ofEvent(event);
    else if (this.#answer !== undefined && event.step_id === this.#step) yield* this.#live(this.#answer, event);
    // else a piece that comes after the end of its answer
  }

  *#live(answer: SpokenAnswer, event: Delta): Generator<UiChunk> {
    if (event.type === 'delta.reset') answer.again();
    else if (event.channel === 'text' || (event.channel === 'reasoning' && this.#hasReasoning))
      yield* answer.say(event.channel, event.text);
  }

  get #hasReasoning(): boolean {
    return this.options.sendReasoning !== false;
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
        yield* this.#dropTexts();
        return;
      case 'tool.requested': {
        const { call_id: toolCallId, tool: toolName, args: input = null } = event;
        const dynamic = this.options.dynamic?.(toolName) === true ? { dynamic: true } : {};
        yield { type: 'tool-input-available', toolCallId, toolName, input, ...dynamic };
        return;
      }
      case 'tool.completed': {
        const linked = event.ref === undefined ? null : { ref: event.ref.toString() };
        const text = this.options.toolErrorText === undefined ? maskedOutput(event.text) : event.text;
        const output = text ?? event.answer?.value ?? linked;
        yield { type: 'tool-output-available', toolCallId: event.call_id, output };
        return;
      }
      case 'tool.failed':
        yield* this.#approvals.failed(
          event.call_id,
          this.options.toolErrorText?.(toolFailure(event)) ?? maskedText(event),
        );
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
        yield* this.#placed(childChunk(event));
        return;
      case 'command.accepted':
      case 'command.applied':
      case 'command.dropped':
        if (event.command === 'Steer') yield* this.#steered(event);
        return;
      default:
        return;
    }
  }

  *#beginStep(step: string | null): Generator<UiChunk> {
    if (step === null) return;
    if (step !== this.#step) {
      yield* this.#endStep();
      this.#step = step;
      yield { type: 'start-step' };
    }
    this.#answer ??= new SpokenAnswer(step); // a step is repeated when its answer failed
  }

  *#endStep(): Generator<UiChunk> {
    yield* this.#dropTexts();
    if (this.#step !== undefined) yield { type: 'finish-step' };
    this.#step = undefined;
  }

  /** U1: the final texts are in the journal. */
  *#endTexts({ step_id, text = '', reasoning = '' }: AgentEventOf<'llm_step.completed'>): Generator<UiChunk> {
    this.#answer ??= new SpokenAnswer(step_id ?? this.#run);
    yield* this.#answer.end({ reasoning: this.#hasReasoning ? reasoning : '', text });
    yield* this.#endAnswer();
  }

  /** U1: texts that never became final are not in the journal. */
  *#dropTexts(): Generator<UiChunk> {
    yield* this.#answer?.drop() ?? [];
    yield* this.#endAnswer();
  }

  *#endAnswer(): Generator<UiChunk> {
    this.#answer = undefined;
    yield* this.#later;
    this.#later = [];
  }

  // U4
  *#placed(chunk: UiChunk): Generator<UiChunk> {
    if (this.#answer === undefined) yield chunk;
    else this.#later.push(chunk);
  }

  *#requested({ id, kind, call_id: toolCallId, tool, value }: AgentEventOf<'human.requested'>): Generator<UiChunk> {
    if (kind === 'approval') {
      if (toolCallId !== null && tool !== null) yield this.#approvals.request(id, toolCallId);
      return;
    }
    const asked = { question: (value ?? null) as Json, toolCallId };
    this.#questions.set(id, asked);
    yield* this.#placed({ type: 'data-question', id, data: { ...asked, state: 'open' } });
  }

  *#settled(event: AgentEventOf<'human.resolved'>): Generator<UiChunk> {
    const { id: first, how, also = [], actor, reason } = event;
    const by = actor === undefined ? {} : { actor, by: actorWords(actor) };
    for (const id of [first, ...also]) {
      const asked = this.#questions.get(id);
      if (asked !== undefined)
        yield* this.#placed({ type: 'data-question', id, data: { ...asked, state: how, ...by } });
      for (const chunk of this.#approvals.end(id, how, { ...by, ...present({ reason }) })) {
        yield chunk;
        if (actor !== undefined)
          yield this.#decided(event, id, { state: how, by: actorWords(actor), ...present({ reason }) });
      }
    }
  }

  /** Who decided has no place in the call's part, and a transient chunk is gone when the page is loaded again. */
  #decided(event: AgentEvent, approval: string, decision: DecisionData): UiChunk {
    this.#decisions = { ...this.#decisions, [approval]: decision };
    return { type: 'message-metadata', messageMetadata: this.#metadata(event) };
  }

  #metadata({ session_id: session }: AgentEvent): RunMetadata {
    return { reprise: { session, run: this.#run, ...present({ decisions: this.#decisions }) } };
  }

  /** An input during the run. Its part may have to wait (U4), so a page is told of it at once. */
  *#steered(event: SteerEvent): Generator<UiChunk> {
    const { command_id: id } = event;
    if (event.type === 'command.accepted' && event.text !== undefined) this.#steers.set(id, event.text);
    const text = this.#steers.get(id);
    const data: SteerData = { state: STEER_STATES[event.type], ...(text === undefined ? {} : { text }) };
    if (this.#answer !== undefined) yield { type: 'data-steer', id, data, transient: true };
    yield* this.#placed({ type: 'data-steer', id, data });
  }

  // U2
  *#end({ usage }: Pick<AgentEventOf<'lifecycle'>, 'usage'>, stop: StopReason, event: AgentEvent): Generator<UiChunk> {
    yield* this.#endStep();
    this.ended = true;
    const used = usage === undefined ? {} : { usage: pickUsage(usage) };
    const { reprise } = this.#metadata(event);
    const messageMetadata: RunMetadata = { reprise: { ...reprise, stop: stop.kind, ...used } };
    if (stop.kind === 'Completed') {
      yield { type: 'finish', finishReason: stop.warning === 'truncated' ? 'length' : 'stop', messageMetadata };
      return;
    }
    yield { type: 'message-metadata', messageMetadata };
    if (stop.kind === 'Cancelled') yield { type: 'abort', reason: 'cancelled' };
    else yield { type: 'error', errorText: this.options.errorText?.(stop) ?? failureText(stop) };
  }
}

type SteerEvent = AgentEventOf<'command.accepted'> | AgentEventOf<'command.applied'> | AgentEventOf<'command.dropped'>;

const STEER_STATES = {
  'command.accepted': 'accepted',
  'command.applied': 'read',
  'command.dropped': 'dropped',
} as const;

function pickUsage({ steps, tokens_in, tokens_out }: NonNullable<AgentEventOf<'lifecycle'>['usage']>) {
  return { steps, tokens_in, tokens_out };
}

function failureText(stop: StopReason): string {
  if (stop.kind === 'Failed') {
    const meaning = failureMeaning(stop.code);
    return `The run failed: ${meaning === undefined ? stop.code : `${meaning} (${stop.code})`}.`;
  }
  return stop.kind === 'LimitsExceeded'
    ? `The run reached its limit ${limitWords(stop.limit)}.`
    : `The run ended: ${stop.kind}.`;
}

type ChildEvent = AgentEventOf<'child.spawned'> | AgentEventOf<'child.changed'> | AgentEventOf<'child.ended'>;

function childChunk(event: ChildEvent): UiChunk {
  const { child, session, agent } = event;
  const status = event.type === 'child.spawned' ? 'running' : event.status;
  const text = event.type === 'child.ended' && event.text !== undefined ? { text: event.text } : {};
  const data: ChildData = { child, session, agent, status, ...text };
  return { type: 'data-child', id: session, data };
}
