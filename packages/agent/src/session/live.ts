/**
 * What models say while they speak. Live, of this process: nothing here is journaled, and whoever listens late hears
 * what was said so far of the answers that are under way.
 */
import type { Value } from '@reprise/contracts';
import type { Delta } from '../contracts/agent-event.js';

/** A piece of an answer under way, by the effect of its model call. */
export interface Spoken {
  readonly effect: string;
  readonly note: Note;
}

/** What an adapter reports of an answer under way. */
type Note =
  | { readonly type: 'delta'; readonly channel: Channel; readonly index: number; readonly text: string }
  | { readonly type: 'delta.reset' };
type Channel = Extract<Delta, { type: 'delta' }>['channel'];

/** What is kept of one answer for who listens late, in characters; more is heard live only. */
const KEPT_CHARS_MAX = 262_144;
/** Answers under way of which something is kept; the oldest is dropped. */
const KEPT_ANSWERS_MAX = 256;

interface Kept {
  readonly notes: Note[];
  chars: number;
}

/** Hands on what models say. */
export class LiveAnswers {
  readonly #kept = new Map<string, Kept>();
  readonly #listeners = new Set<Listener>();
  /** Answers that are over, the last ones: what was held back of one may be told after its end. */
  readonly #over = new Set<string>();

  /** Takes what a running effect reports; anything but a piece of an answer is passed over. */
  take(effect: string, given: Value): void {
    const note = noteOf(given);
    if (note === undefined) return;
    if (!this.#over.has(effect)) this.#keep(effect, note);
    for (const listener of this.#listeners) listener.hear({ effect, note });
  }

  /** The answer is over: what was kept of it is dropped. */
  end(effect: string): void {
    this.#kept.delete(effect);
    this.#over.add(effect);
    const [oldest] = this.#over;
    if (this.#over.size > KEPT_ANSWERS_MAX && oldest !== undefined) this.#over.delete(oldest);
  }

  /** Listens from now on; what was said so far is there at once. */
  listen(): Listener {
    const listener = new Listener(() => this.#listeners.delete(listener));
    for (const [effect, { notes }] of this.#kept) for (const note of notes) listener.hear({ effect, note });
    this.#listeners.add(listener);
    return listener;
  }

  #keep(effect: string, note: Note): void {
    const kept = this.#kept.get(effect) ?? { notes: [], chars: 0 };
    if (note.type === 'delta.reset') Object.assign(kept, { chars: 0, notes: [] });
    else if (kept.chars + note.text.length <= KEPT_CHARS_MAX) {
      kept.chars += note.text.length;
      kept.notes.push(note);
    }
    this.#kept.set(effect, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_ANSWERS_MAX && oldest !== undefined) this.#kept.delete(oldest);
  }
}

/** Hears what models say until it is closed. */
export class Listener {
  #heard: Spoken[] = [];
  #wake: () => void = () => undefined;

  constructor(readonly close: () => void) {}

  hear(spoken: Spoken): void {
    this.#heard.push(spoken);
    this.#wake();
  }

  /** Resolves when there is something to take. */
  heard(): Promise<void> {
    if (this.#heard.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Takes what was heard. */
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
