/**
 * The history of sessions in words, from journal frames: one entry for each thing that a person cares about.
 *
 * Owns: which records become entries, and their words. Does not own: which record becomes which event
 * (`timeline/agent-events.ts`), records that belong to no session, the layout of lines (the command).
 *
 * Invariants
 * H1  Every message, every call, every result, every decision and every end of a run is exactly one entry.
 * H2  The entries depend on the frames and their content alone, so reading again gives the same entries.
 * H3  A text of others stands last in the words, with nothing but the count of its cut characters behind it: nothing that
 *     it contains can pass for our words about who acted.
 */
import type { ContentReader } from '@reprise/kernel';
import type { AgentEvent } from '../contracts/agent-event.js';
import { AgentEvents } from '../timeline/agent-events.js';
import type { EventFrame } from '../timeline/event-frame.js';
import { filesOf, type OpenEffect, OpenEffects } from './effects.js';
import { type HistoryEntry, TEXT_BOUNDS, type TextBounds } from './entry.js';
import { type Body, eventBody, type WordsContext } from './event-words.js';
import { type Sent, sentIn } from './messages.js';
import { indexOf, runOf } from './places.js';
import { Questions } from './questions.js';
import { sentBody } from './sent-words.js';

/** The options of a history. */
interface HistoryOptions {
  /** How much of a text an entry includes. */
  readonly bounds?: TextBounds;
  /** Selects sessions; every session when absent. */
  readonly isMeant?: (session: string) => boolean;
}

/** Makes entries from frames. Give it every frame of a world, in order. */
export class History {
  readonly #events = new AgentEvents();
  readonly #effects = new OpenEffects();
  readonly #questions = new Questions();

  private readonly bounds: TextBounds;
  private readonly isMeant: (session: string) => boolean;

  constructor(
    private readonly content: ContentReader,
    { bounds = TEXT_BOUNDS, isMeant = () => true }: HistoryOptions = {},
  ) {
    this.bounds = bounds;
    this.isMeant = isMeant;
  }

  /** The entries of the next frame, in the order of its records. */
  async entriesOf(frame: EventFrame): Promise<HistoryEntry[]> {
    const events = new Map(this.#events.project(frame).map((event) => [indexOf(event), event]));
    const sent = new Map(sentIn(frame).map((one) => [one.i, one]));
    const [first] = frame.records;
    const files = first === undefined ? { changes: [], artifacts: [] } : filesOf(first);
    const entries: HistoryEntry[] = [];
    for (const [i, record] of frame.records.entries()) {
      const effect = this.#effects.take(record);
      const place = { place: `${frame.seq}.${i}`, at: frame.at } as const;
      const [one, event] = [sent.get(i), events.get(i)];
      const question = event === undefined ? undefined : this.#questions.take(event, frame.records);
      const session = one?.session ?? event?.session_id ?? effect?.session;
      if (session === undefined || !this.isMeant(session)) continue;
      const body =
        one !== undefined
          ? await sentBody(one, fateOf(one, events), this.content, this.bounds)
          : event !== undefined
            ? await this.#ofEvent(event, sent, { files, question })
            : record.kind === 'attempt' && effect !== undefined
              ? repeated(effect, record.attempt)
              : undefined;
      if (body !== undefined)
        entries.push({ ...place, session, run: event === undefined ? null : runOf(event), ...body });
    }
    return entries;
  }

  async #ofEvent(
    event: AgentEvent,
    sent: ReadonlyMap<number, Sent>,
    seen: Pick<WordsContext, 'files' | 'question'>,
  ): Promise<Body | undefined> {
    // The entry of the message states what became of it.
    const isStated = [...sent.values()].some((one) => one.session === event.session_id && isFateOf(one, event));
    return isStated ? undefined : eventBody(event, { content: this.content, bounds: this.bounds, ...seen });
  }
}

/** What became of a message or a command in the frame that brought it. */
function fateOf(sent: Sent, events: ReadonlyMap<number, AgentEvent>): readonly AgentEvent[] {
  return [...events.values()].filter((event) => event.session_id === sent.session && isFateOf(sent, event));
}

function isFateOf({ command_id }: Sent, event: AgentEvent): boolean {
  switch (event.type) {
    case 'input.accepted':
    case 'command.accepted':
    case 'command.rejected':
      return event.command_id === command_id;
    default:
      return false;
  }
}

/** The entry of an effect that is started once more; undefined for its first attempt. */
function repeated({ name, tool, call_id }: OpenEffect, attempt: number): Body | undefined {
  if (attempt === 1) return undefined;
  const what = tool === undefined ? (name.startsWith('llm.') ? 'the model call' : name) : `${tool} ${call_id}`;
  return {
    kind: 'failure',
    by: 'kernel',
    ...(call_id === undefined ? {} : { call_id }),
    ...(tool === undefined ? {} : { tool }),
    words: `${what} is started again (attempt ${attempt}): the attempt before was interrupted or failed`,
  };
}
