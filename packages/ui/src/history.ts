/** The messages of a session so far, for a page that is reloaded. */
import type { AgentEvent, Cursor, Session } from '@reprise/agent';
import { MessageFold, type UiMessage } from './message.js';
import { type ChunkOptions, RunChunks } from './run-chunks.js';
import { UI_INLINE_BYTES_MAX } from './stream.js';

/** Options of {@link followUiMessages}. */
export interface FollowOptions extends ChunkOptions {
  /** Stops following. */
  readonly signal?: AbortSignal;
}

/** A message in its current state, and the event that led to it. */
export interface FollowedMessage {
  readonly message: UiMessage;
  readonly cursor: Cursor;
}

/** One input, and the run that it started. */
interface Exchange {
  readonly said: UiMessage;
  readonly chunks: RunChunks;
  readonly fold: MessageFold;
  hasBegun: boolean;
}

/**
 * The conversation of a session so far, as messages of a chat page: each input under the id that it was sent with, and
 * the run's answer under the run's id. An unfinished run is included as far as it is; resuming its stream replaces it.
 *
 * @example useChat({ messages, resume: true })
 */
export async function uiMessages(
  session: Pick<Session, 'events'>,
  options: ChunkOptions = {},
): Promise<readonly UiMessage[]> {
  const exchanges = new Exchanges(options);
  for await (const event of session.events({ ...SHOWN, follow: false })) exchanges.take(event);
  return exchanges.messages;
}

/**
 * Follows the messages of a session as they arrive and change, from any sender: for a second tab. It begins with all
 * past messages and their changes, and continues until the world closes or `signal` aborts. A later message with the
 * same id replaces the earlier one. Text that a model is still streaming is not included: resume the run's stream for
 * it.
 *
 * @example for await (const { message } of followUiMessages(session, { signal })) show(message)
 */
export async function* followUiMessages(
  session: Pick<Session, 'events'>,
  { signal, ...options }: FollowOptions = {},
): AsyncGenerator<FollowedMessage> {
  const exchanges = new Exchanges(options);
  for await (const event of session.events({ ...SHOWN, ...(signal === undefined ? {} : { signal }) }))
    for (const message of exchanges.take(event)) yield { message: structuredClone(message), cursor: event.event_seq };
}

const SHOWN = { inline: UI_INLINE_BYTES_MAX, channel: 'model' } as const;

/** The inputs and runs of a session, built event by event. */
class Exchanges {
  readonly #byRun = new Map<string, Exchange>();
  #current: Exchange | undefined;

  constructor(private readonly options: ChunkOptions) {}

  get messages(): readonly UiMessage[] {
    return [...this.#byRun.values()].flatMap(({ said, fold, hasBegun }) => (hasBegun ? [said, fold.message] : [said]));
  }

  /** @returns the messages that the event created or changed */
  take(event: AgentEvent): readonly UiMessage[] {
    const isNew = event.run_id !== null && !this.#byRun.has(event.run_id);
    const known = event.run_id === null ? this.#current : exchangeOf(this.#byRun, event, event.run_id, this.options);
    if (known === undefined) return [];
    if (event.run_id !== null && event.type !== 'input.accepted') this.#current = known;
    let changed = false;
    for (const chunk of known.chunks.take(event)) {
      known.fold.take(chunk);
      // A run that is still queued has no content.
      known.hasBegun ||= chunk.type !== 'start';
      changed = true;
    }
    return [...(isNew ? [known.said] : []), ...(changed && known.hasBegun ? [known.fold.message] : [])];
  }
}

function exchangeOf(
  exchanges: Map<string, Exchange>,
  event: AgentEvent,
  run: string,
  options: ChunkOptions,
): Exchange | undefined {
  const known = exchanges.get(run);
  if (known !== undefined || event.type !== 'input.accepted') return known;
  const said: UiMessage = { id: event.command_id, role: 'user', parts: [{ type: 'text', text: event.text ?? '' }] };
  const made = { said, chunks: new RunChunks(run, options), fold: new MessageFold(run), hasBegun: false };
  exchanges.set(run, made);
  return made;
}
