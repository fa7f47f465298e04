/**
 * Pieces of answers while models write them. They are live and local to this process: nothing here is journaled. A late
 * listener receives the pieces so far of the current answers.
 */
import type { Value } from '@reprise/contracts';
import type { Delta } from '../../contracts/agent-event.js';

/** A piece of a current answer, by the effect of its model call. */
export interface Spoken {
  readonly effect: string;
  readonly note: Note;
}

/** A progress report of a model's adapter. */
type Note =
  | { readonly type: 'delta'; readonly channel: Channel; readonly index: number; readonly text: string }
  | { readonly type: 'delta.reset' };
type Channel = Extract<Delta, { type: 'delta' }>['channel'];

/** How much of one answer is stored for late listeners, in characters; further pieces are only live. */
const BUFFERED_CHARS_MAX = 262_144;
/** How many current answers are stored; the oldest is dropped. */
const BUFFERED_ANSWERS_MAX = 256;

interface Kept {
  readonly notes: Note[];
  chars: number;
}

/** Passes on pieces of answers to listeners. */
export class LiveAnswers {
  readonly #kept = new Map<string, Kept>();
  readonly #listeners = new Set<Listener>();
  /** The last completed answers: a piece that was withheld may be reported after the end of its answer. */
  readonly #over = new Set<string>();

  /** Takes a progress report of a running effect; ignores reports that are not a piece of an answer. */
  take(effect: string, given: Value): void {
    const note = noteOf(given);
    if (note === undefined) return;
    if (!this.#over.has(effect)) this.#keep(effect, note);
    for (const listener of this.#listeners) listener.hear({ effect, note });
  }

  /** The answer is complete: its stored pieces are dropped. */
  end(effect: string): void {
    this.#kept.delete(effect);
    this.#over.add(effect);
    const [oldest] = this.#over;
    if (this.#over.size > BUFFERED_ANSWERS_MAX && oldest !== undefined) this.#over.delete(oldest);
  }

  /** Makes a listener that receives the stored pieces at once. */
  listen(): Listener {
    const listener = new Listener(() => this.#listeners.delete(listener));
    for (const [effect, { notes }] of this.#kept) for (const note of notes) listener.hear({ effect, note });
    this.#listeners.add(listener);
    return listener;
  }

  #keep(effect: string, note: Note): void {
    const kept = this.#kept.get(effect) ?? { notes: [], chars: 0 };
    if (note.type === 'delta.reset') Object.assign(kept, { chars: 0, notes: [] });
    else if (kept.chars + note.text.length <= BUFFERED_CHARS_MAX) {
      kept.chars += note.text.length;
      kept.notes.push(note);
    }
    this.#kept.set(effect, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > BUFFERED_ANSWERS_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** Says that there are pieces to take, where a frame may come as well. */
export const PIECES = 'pieces';

/** Receives pieces of answers until it is closed. */
class Listener {
  #heard: Spoken[] = [];
  #wake: () => void = () => undefined;

  constructor(readonly close: () => void) {}

  hear(spoken: Spoken): void {
    this.#heard.push(spoken);
    this.#wake();
  }

  /** Resolves when there is a piece to take. */
  heard(): Promise<typeof PIECES> {
    if (this.#heard.length > 0) return Promise.resolve(PIECES);
    return new Promise((resolve) => {
      this.#wake = () => resolve(PIECES);
    });
  }

  take(): Spoken[] {
    const heard = this.#heard;
    this.#heard = [];
    return heard;
  }
}

const CHANNELS: readonly string[] = ['text', 'reasoning', 'tool_args'] satisfies Channel[];

function noteOf(given: Value): Note | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { type, channel, index, text } = given as Readonly<Record<string, unknown>>;
  if (type === 'delta.reset') return { type };
  if (type !== 'delta' || typeof text !== 'string' || typeof index !== 'number') return undefined;
  return CHANNELS.includes(String(channel)) ? { type, channel: channel as Channel, index, text } : undefined;
}
