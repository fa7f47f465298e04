/** The messages of a session so far, for a page that is reloaded. */

import type { AgentEvent, AgentEventOf, Cursor, Session } from '@reprise/agent';
import { requireFields, requireMethods } from '@reprise/contracts';
import { MessageFold, type UiMessage } from './message.js';
import { type ChunkOptions, RunChunks } from './run-chunks.js';
import { isBehind, UI_INLINE_BYTES_MAX } from './stream.js';

/** From where on messages are yielded, and until when. */
export interface FollowOptions extends ChunkOptions {
  /** Yields only the messages that changed behind this event. Default: all. */
  readonly after?: Cursor | undefined;
  /** Aborting it stops the following. */
  readonly signal?: AbortSignal;
}

/** A message in its current state. */
export interface FollowedMessage {
  readonly message: UiMessage;
  /** Of an answer: the id of the input that it answers, and stands behind. */
  readonly answers?: string;
  /**
   * The event up to which a follower has everything, once it has this message; absent while more messages of that event
   * follow.
   */
  readonly cursor?: Cursor;
}

/** The point at which a follower has caught up with the past. */
export interface CaughtUp {
  readonly caughtUp: true;
  /** The last event; absent in a session without events. */
  readonly cursor?: Cursor;
}

/** One input, and its answer. */
interface Exchange {
  readonly said: UiMessage;
  chunks: RunChunks;
  fold: MessageFold;
  hasBegun: boolean;
}

/**
 * The conversation of a session so far, as messages of a chat page: each input under the id that it was sent with, and
 * its answer: under the id of the run that it began, or, as a later turn of a run, under the id `RUN/INPUT`. An
 * unfinished answer is included as far as it is; resuming its stream replaces it.
 *
 * @example useChat({ messages, resume: true })
 */
export async function uiMessages(
  session: Pick<Session, 'events'>,
  options: ChunkOptions = {},
): Promise<readonly UiMessage[]> {
  requireMethods(session, ['events'], 'uiMessages(session)', 'a session, from world.session');
  requireFields(options, 'uiMessages(options)', 'an object');
  const exchanges = new Exchanges(options);
  for await (const event of session.events({ ...SHOWN, follow: false })) exchanges.take(event);
  return exchanges.messages.map(({ message }) => message);
}

/**
 * Follows the messages of a session as they arrive and change, from any sender: for a second tab. It begins with the
 * past messages in their current state, in the order of the conversation, and continues until the world closes or
 * `signal` aborts. A later message with the same id replaces the earlier one. Text that a model is still streaming is
 * not included: resume the run's stream for it.
 *
 * @example for await (const { message } of followUiMessages(session, { signal })) show(message)
 */
export async function* followUiMessages(
  session: Pick<Session, 'events'>,
  options: FollowOptions = {},
): AsyncGenerator<FollowedMessage> {
  requireMethods(session, ['events'], 'followUiMessages(session)', 'a session, from world.session');
  requireFields(options, 'followUiMessages(options)', 'an object');
  for await (const news of followed(session, options)) if (!('caughtUp' in news)) yield news;
}

/** The past messages, a mark behind them, and then each change. */
export async function* followed(
  session: Pick<Session, 'events'>,
  { signal, after, ...options }: FollowOptions,
): AsyncGenerator<FollowedMessage | CaughtUp> {
  const exchanges = new Exchanges(options);
  const stop = signal === undefined ? {} : { signal };
  const changed = new Set<string>();
  let cursor: Cursor | undefined;
  for await (const event of session.events({ ...SHOWN, ...stop, follow: false })) {
    cursor = event.event_seq;
    for (const { message } of exchanges.take(event)) if (isBehind(cursor, after)) changed.add(message.id);
  }
  const past = exchanges.messages.filter(({ message }) => changed.has(message.id));
  yield* placed(past, cursor);
  yield { caughtUp: true, ...at(cursor) };
  for await (const event of session.events({ ...SHOWN, ...stop, ...(cursor === undefined ? {} : { after: cursor }) }))
    yield* placed(exchanges.take(event), event.event_seq);
}

function* placed(messages: readonly FollowedMessage[], cursor: Cursor | undefined): Generator<FollowedMessage> {
  for (const [i, { message, ...rest }] of messages.entries())
    yield { message: structuredClone(message), ...rest, ...(i < messages.length - 1 ? {} : at(cursor)) };
}

function at(cursor: Cursor | undefined): { readonly cursor?: Cursor } {
  return cursor === undefined ? {} : { cursor };
}

const SHOWN = { inline: UI_INLINE_BYTES_MAX, channel: 'model' } as const;

/** The inputs of a session and their answers, built event by event. */
class Exchanges {
  readonly #byInput = new Map<string, Exchange>();
  /** The exchanges whose inputs were announced as runs of their own, by the ids of those runs. */
  readonly #byRun = new Map<string, Exchange>();
  /** The exchange whose turn it is. */
  #current: Exchange | undefined;

  constructor(private readonly options: ChunkOptions) {}

  get messages(): readonly FollowedMessage[] {
    return [...this.#byInput.values()].flatMap((exchange) =>
      exchange.hasBegun ? [{ message: exchange.said }, answerOf(exchange)] : [{ message: exchange.said }],
    );
  }

  /** @returns the messages that the event created or changed */
  take(event: AgentEvent): readonly FollowedMessage[] {
    const isNew = event.type === 'input.accepted' && !this.#byInput.has(event.command_id);
    const changed: FollowedMessage[] = [];
    for (const exchange of this.#of(event)) {
      if (isNew) changed.push({ message: exchange.said });
      if (fed(exchange, event)) changed.push(answerOf(exchange));
    }
    return changed;
  }

  /** The exchanges that an event may belong to: a turn that begins also ends the one before it. */
  #of(event: AgentEvent): readonly Exchange[] {
    switch (event.type) {
      case 'input.accepted':
        return [this.#accepted(event)];
      case 'input.dropped':
        return listed(this.#byInput.get(event.command_id));
      case 'turn.started': {
        const before = this.#current;
        const next = this.#byInput.get(event.command_id ?? '');
        this.#current = next ?? before;
        return before === next ? listed(before) : [...listed(before), ...listed(next)];
      }
      case 'lifecycle':
        // A run that never began was never current.
        return listed(event.from === 'Queued' ? this.#byRun.get(event.run_id ?? '') : this.#current);
      default:
        return listed(this.#current);
    }
  }

  #accepted({ command_id, run_id, text = '' }: AgentEventOf<'input.accepted'>): Exchange {
    const known = this.#byInput.get(command_id);
    const run = run_id ?? command_id;
    if (known !== undefined) return known.hasBegun ? this.#answeredAnew(known, run) : known;
    const said: UiMessage = { id: command_id, role: 'user', parts: [{ type: 'text', text }] };
    const chunks = new RunChunks(run, this.options, command_id);
    const made = { said, chunks, fold: new MessageFold(run), hasBegun: false };
    this.#byInput.set(command_id, made);
    this.#byRun.set(run, made);
    return made;
  }

  /** The run that was answering the input has ended, and another one answers it: its answer takes the place. */
  #answeredAnew(exchange: Exchange, run: string): Exchange {
    const chunks = new RunChunks(run, this.options, exchange.said.id);
    Object.assign(exchange, { chunks, fold: new MessageFold(run), hasBegun: false });
    this.#byRun.set(run, exchange);
    return exchange;
  }
}

function answerOf({ said, fold }: Exchange): FollowedMessage {
  return { message: fold.message, answers: said.id };
}

/** @returns whether the event changed the answer */
function fed(exchange: Exchange, event: AgentEvent): boolean {
  let changed = false;
  for (const chunk of exchange.chunks.take(event)) {
    exchange.fold.take(chunk);
    exchange.hasBegun ||= chunk.type !== 'start';
    changed = true;
  }
  return changed && exchange.hasBegun;
}

function listed(exchange: Exchange | undefined): readonly Exchange[] {
  return exchange === undefined ? [] : [exchange];
}
