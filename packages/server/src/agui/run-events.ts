/**
 * The events of a session as events of the protocol, between the beginning of a stream and its end.
 *
 * Invariants
 * E1  What is opened is closed before the end: texts and steps.
 * E2  After each event a client has the messages of the thread's conversation, besides the texts of an answer under way.
 */
import type { AgentEvent, AgentEventOf, Delta } from '@reprise/agent';
import { Answer } from './answer.js';
import { resultOf, toolCallOf } from './conversation.js';
import type { AgUiEvent } from './events.js';
import type { ClientMessage } from './input.js';
import type { ClientHistory } from './snapshot.js';
import type { Thread } from './thread.js';

interface RunParts {
  readonly thread: Thread;
  readonly client: ClientHistory;
  /** Fills what events do not tell of the messages of people. */
  fill(): Promise<void>;
}

/** Turns events into those of one stream. */
export class RunEvents {
  #step: string | undefined;
  #answer: Answer | undefined;

  constructor(private readonly parts: RunParts) {}

  /** What a client is told before the first event: how its messages differ, and which subagents work. @param unsent its own at the end */
  async *begin(unsent: readonly ClientMessage[] = []): AsyncGenerator<AgUiEvent> {
    const { thread, client } = this.parts;
    await this.parts.fill();
    yield* client.corrections(thread.conversation.messages, unsent);
    yield* thread.subagents.news();
  }

  async *take(event: AgentEvent): AsyncGenerator<AgUiEvent> {
    const { thread } = this.parts;
    const known = thread.conversation.messages.length;
    thread.take(event);
    const grows = thread.conversation.messages.length > known;
    const isOwn = event.session_id === thread.session;
    if (isOwn) for (const made of this.#own(event, grows)) yield this.#heard({ ...made, timestamp: event.at });
    for (const news of thread.subagents.news()) yield { ...news, timestamp: event.at };
    if ((grows && event.type === 'turn.started') || this.#answer?.isWrong === true) yield* this.#correct();
    if (isOwn && ANSWERED.includes(event.type)) this.#answer = undefined;
  }

  async *live(piece: Delta): AsyncGenerator<AgUiEvent> {
    if (this.#answer === undefined || piece.step_id !== this.#answer.step) return;
    for (const made of this.#answer.live(piece)) yield this.#heard(made);
    if (this.#answer.isWrong) yield* this.#correct();
  }

  /** Closes what is open (E1). */
  async *close(): AsyncGenerator<AgUiEvent> {
    yield* this.#answer?.finish({}) ?? [];
    if (this.#answer?.isWrong === true) yield* this.#correct();
    this.#answer = undefined;
    yield* this.#endStep();
  }

  /** Tells all messages, with the texts that are under way. */
  async *#correct(): AsyncGenerator<AgUiEvent> {
    const { thread, client } = this.parts;
    await this.parts.fill();
    const { conversation } = thread;
    const partial = this.#answer?.messages.filter(({ id }) => !conversation.has(id)) ?? [];
    yield client.snapshot([...conversation.messages, ...partial]);
    this.#answer?.corrected();
  }

  #heard(event: AgUiEvent): AgUiEvent {
    this.parts.client.heard(event);
    return event;
  }

  /** @param grows whether the event adds a message to the conversation */
  *#own(event: AgentEvent, grows: boolean): Generator<AgUiEvent> {
    switch (event.type) {
      case 'llm_step.requested':
        return yield* this.#begin(event.step_id);
      case 'llm_step.completed':
        return yield* this.#answerOf(event.step_id).finish(event);
      case 'llm_step.failed':
        return yield* this.#answerOf(event.step_id).finish({});
      case 'tool.requested':
        return yield* calls(event);
      case 'tool.completed':
      case 'tool.failed':
        if (grows) yield { type: 'TOOL_CALL_RESULT', ...resultOf(event), role: 'tool' };
        return;
      default:
        return;
    }
  }

  *#begin(step: string | null): Generator<AgUiEvent> {
    if (step === null) return;
    if (step !== this.#step) {
      yield* this.#endStep();
      this.#step = step;
      yield { type: 'STEP_STARTED', stepName: step };
    }
    if (this.#answer?.step === step)
      this.#answer.again(); // a step is requested again when its answer failed
    else this.#answer = new Answer(step);
  }

  *#endStep(): Generator<AgUiEvent> {
    if (this.#step !== undefined) yield { type: 'STEP_FINISHED', stepName: this.#step };
    this.#step = undefined;
  }

  #answerOf(step: string | null): Answer {
    this.#answer ??= new Answer(step ?? this.parts.thread.session);
    return this.#answer;
  }
}

/** The events behind which an answer is what the journal says. */
const ANSWERED: readonly string[] = ['llm_step.completed', 'llm_step.failed'];

function* calls(event: AgentEventOf<'tool.requested'>): Generator<AgUiEvent> {
  const { id: toolCallId, function: made } = toolCallOf(event);
  const parentMessageId = event.step_id ?? event.session_id;
  yield { type: 'TOOL_CALL_START', toolCallId, toolCallName: made.name, parentMessageId };
  yield { type: 'TOOL_CALL_ARGS', toolCallId, delta: made.arguments };
  yield { type: 'TOOL_CALL_END', toolCallId };
}
