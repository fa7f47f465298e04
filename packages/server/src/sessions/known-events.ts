/**
 * The events of threads that were read before: each request of a client needs all of its thread, and reads only what came since.
 *
 * Invariants
 * K1  What is kept is of one principal and one beginning of a session, and was told to that principal. An erasure empties all.
 * K2  It is bounded, in threads and in characters; the thread that was longest not asked for goes first.
 */
import type { AgentEvent, Cursor } from '@reprise/agent';

/** The threads that are kept, and the characters of their events together. */
const [THREADS_MAX, CHARACTERS_MAX] = [256, 32 * 1024 * 1024];

/** A number behind all records of a frame. */
const LAST_RECORD = 999_999_999;

/** The events of a thread up to a frame. */
interface Kept {
  readonly events: readonly AgentEvent[];
  /** The last frame that was read. */
  readonly upTo: number;
  readonly characters: number;
}

/** A thread as its principal may read it now. */
interface ThreadSource {
  readonly principal: string;
  readonly session: string;
  /** The frame that began the session. */
  readonly first: number;
  /** The last durable frame now. */
  readonly head: number;
  /** How many erasures there were. */
  readonly erased: number;
  read(after: Cursor | undefined): AsyncGenerator<AgentEvent>;
}

/** Keeps the events of threads between requests. */
export class KnownEvents {
  readonly #kept = new Map<string, Kept>();
  #characters = 0;
  #erased = 0;

  /** The events of a thread up to now. */
  async of(source: ThreadSource): Promise<readonly AgentEvent[]> {
    if (source.erased !== this.#erased) this.#forget(); // K1
    this.#erased = source.erased;
    const key = JSON.stringify([source.principal, source.session, source.first]);
    const known = this.#kept.get(key);
    const upTo = known?.upTo ?? source.first - 1;
    const added: AgentEvent[] = [];
    for await (const event of source.read(upTo < 0 ? undefined : `${upTo}.${LAST_RECORD}`))
      if (frameOf(event) <= source.head) added.push(event);
    const events = known === undefined ? added : [...known.events, ...added];
    if (source.erased !== this.#erased) return events; // it was read before an erasure
    this.#keep(key, { events, upTo: source.head, characters: (known?.characters ?? 0) + charactersIn(added) });
    return events;
  }

  #keep(key: string, kept: Kept): void {
    this.#drop(key);
    this.#kept.set(key, kept);
    this.#characters += kept.characters;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= THREADS_MAX && this.#characters <= CHARACTERS_MAX) return; // K2
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#characters -= this.#kept.get(key)?.characters ?? 0;
    this.#kept.delete(key);
  }

  #forget(): void {
    this.#kept.clear();
    this.#characters = 0;
  }
}

function frameOf({ event_seq }: AgentEvent): number {
  return Number(event_seq.split('.')[0]);
}

function charactersIn(events: readonly AgentEvent[]): number {
  return events.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
}
