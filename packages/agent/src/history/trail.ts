/**
 * Follows the frames of one session up to an act, and keeps what the act follows from: the answer of the model, the
 * results that the model had read, the messages of the run, the decision of a person, the outcome.
 *
 * Memory is bounded: of the run it keeps the first message, the last messages and results before the act, and the calls
 * of one step.
 */
import type { JournalRecord, PolicyRule } from '@reprise/contracts';
import type { AgentEvent, AgentEventOf, Cursor } from '../contracts/agent-event.js';
import type { RunCause } from '../contracts/commands.js';
import type { FileChange } from '../contracts/tool-call.js';
import { AgentEvents } from '../timeline/agent-events.js';
import type { EventFrame } from '../timeline/event-frame.js';
import { filesOf, OpenEffects } from './effects.js';
import { type Sent, sentIn } from './messages.js';
import { indexOf, runOf } from './places.js';

/** How many results that the model had read, and how many messages, are kept. */
const READ_MAX = 8;
const MESSAGES_MAX = 8;

/** The act that a trail leads to: a call, an answer or a message of a session. */
export interface Target {
  readonly session: string;
  readonly run: number | null;
  readonly call_id?: string;
  readonly step_id?: string;
  /** The place of the event, for the trail of a message. */
  readonly place?: Cursor;
}

/** The event that settles a call. */
export type Settled = AgentEventOf<'tool.completed'> | AgentEventOf<'tool.failed'>;
type Requested = AgentEventOf<'tool.requested'>;

/** A message, and where it was sent. */
interface Message {
  readonly sent: Sent;
  readonly place: Cursor;
}

/** The last of some things, and the number of those before them. */
interface LastOf<T> {
  readonly shown: T[];
  before: number;
}

/** What an act follows from. */
export interface Causes {
  call?: Requested;
  outcome?: { readonly event: Settled; readonly changes: readonly FileChange[] };
  /** The request to a person about the call. */
  asked?: string | undefined;
  decision?: { readonly event: AgentEventOf<'human.resolved'>; readonly always: boolean };
  /** The policy rule that permitted the call. */
  rule?: { readonly index: number; readonly rule: PolicyRule };
  answer?: AgentEventOf<'llm_step.completed'>;
  /** The results that the model had read in this run. */
  readonly read: LastOf<{ readonly event: Settled; readonly call: Requested | undefined }>;
  /** The messages of this run; the first one is always kept. */
  readonly messages: LastOf<Message>;
  /** Why the run began, where it is known. */
  cause?: RunCause;
}

/** Collects the causes of one act. */
export class Trail {
  readonly causes: Causes = { read: { shown: [], before: 0 }, messages: { shown: [], before: 0 } };
  readonly #events: AgentEvents;
  readonly #effects = new OpenEffects();
  /** Messages that no model was shown yet, by command id. */
  readonly #waiting = new Map<string, Message>();
  /** The calls of the current step. */
  readonly #calls = new Map<string, Requested>();
  #policy: readonly PolicyRule[] = [];
  /** The act is behind: later frames only add its outcome. */
  #isReached = false;

  constructor(readonly target: Target) {
    this.#events = new AgentEvents({ sessions: [target.session] });
  }

  /** Takes the next frame. @returns false when no later frame matters */
  take(frame: EventFrame): boolean {
    const [first] = frame.records;
    if (first?.kind === 'manifest') this.#policy = first.policy;
    for (const sent of sentIn(frame)) this.#send(sent, frame);
    const events = new Map(this.#events.project(frame).map((event) => [indexOf(event), event]));
    for (const [i, record] of frame.records.entries()) {
      this.#effect(record);
      const event = events.get(i);
      if (event !== undefined && !this.#see(event, record, frame)) return false;
    }
    return !(this.#isReached && this.target.call_id === undefined);
  }

  #send(sent: Sent, { seq }: EventFrame): void {
    if (this.#isReached || sent.session !== this.target.session || sent.parts.length === 0) return;
    const message: Message = { sent, place: `${seq}.${sent.i}` };
    this.#waiting.set(sent.command_id, message);
    if (message.place !== this.target.place) return;
    this.#message(message);
    if (sent.cause !== undefined) this.causes.cause = sent.cause;
    this.#isReached = true;
  }

  /** The effect of a call is emitted after the fact that requests it. */
  #effect(record: JournalRecord): void {
    const effect = this.#effects.take(record);
    const { session, call_id } = this.target;
    if (this.causes.call === undefined || effect?.session !== session || effect.call_id !== call_id) return;
    const rule = this.#policy[effect.rule];
    if (rule !== undefined) this.causes.rule = { index: effect.rule, rule };
  }

  /** @returns false when no later event matters */
  #see(event: AgentEvent, record: JournalRecord, frame: EventFrame): boolean {
    if (this.#isReached) return this.#seeAfter(event, record, frame);
    switch (event.type) {
      case 'input.accepted':
        if (runOf(event) === this.target.run) this.causes.cause ??= event.cause;
        return true;
      case 'command.rejected':
      case 'command.dropped':
      case 'input.dropped':
        this.#waiting.delete(event.command_id);
        return true;
      case 'turn.started':
        this.#turn(event);
        return true;
      default:
        if (runOf(event) === this.target.run) this.#seeRun(event);
        return true;
    }
  }

  /** An event of the run, before the act or the act itself. */
  #seeRun(event: AgentEvent): void {
    switch (event.type) {
      case 'llm_step.completed':
        this.causes.answer = event;
        this.#calls.clear();
        this.#isReached = event.step_id === this.target.step_id;
        return;
      case 'tool.requested':
        this.#calls.set(event.call_id, event);
        if (event.call_id !== this.target.call_id) return;
        this.causes.call = event;
        this.#isReached = true;
        return;
      case 'tool.completed':
      case 'tool.failed': {
        const { read } = this.causes;
        read.shown.push({ event, call: this.#calls.get(event.call_id) });
        if (read.shown.length > READ_MAX) read.before += read.shown.splice(0, 1).length;
        return;
      }
      default:
    }
  }

  #turn({ command_id, run_id, session_id }: AgentEventOf<'turn.started'>): void {
    const message = command_id === undefined ? undefined : this.#waiting.get(command_id);
    if (command_id === undefined || message === undefined) return;
    this.#waiting.delete(command_id);
    if (runOf({ run_id, session_id }) === this.target.run) this.#message(message);
  }

  #message(message: Message): void {
    const { messages } = this.causes;
    messages.shown.push(message);
    if (messages.shown.length > MESSAGES_MAX) messages.before += messages.shown.splice(1, 1).length;
  }

  /** What became of the call. */
  #seeAfter(event: AgentEvent, record: JournalRecord, { records: [first] }: EventFrame): boolean {
    const { causes, target } = this;
    switch (event.type) {
      case 'human.requested':
        if (event.call_id === target.call_id) causes.asked = event.id;
        return true;
      case 'tool.waiting':
        if (event.call_id === target.call_id && event.for === 'ask') causes.asked = effectIn(record);
        return true;
      case 'human.resolved':
        if (causes.asked !== undefined && [event.id, ...(event.also ?? [])].includes(causes.asked))
          causes.decision = { event, always: isAlways(first) };
        return true;
      case 'tool.completed':
      case 'tool.failed':
        if (event.call_id !== target.call_id) return true;
        causes.outcome = { event, changes: first === undefined ? [] : filesOf(first).changes };
        return false;
      case 'lifecycle':
        return event.stop === undefined || runOf(event) !== target.run;
      default:
        return true;
    }
  }
}

/** The effect that a waiting call names. */
export function effectIn(record: JournalRecord): string | undefined {
  if (record.kind !== 'fact') return undefined;
  const { effect } = record.value as { readonly effect?: unknown };
  return typeof effect === 'string' ? effect : undefined;
}

function isAlways(ingress: JournalRecord | undefined): boolean {
  if (ingress?.kind !== 'command' || ingress.command.name !== 'sys/Decide@1') return false;
  const { decision } = ingress.command.value;
  return decision.approve && decision.remember !== undefined;
}
