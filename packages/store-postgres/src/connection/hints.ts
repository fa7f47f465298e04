/**
 * Hints between the processes of a database: that something has been committed which others wait for. Each is about a topic,
 * a short text.
 *
 * Invariants
 * N1  A hint is sent after its commit, by a statement of its own: commits that notify wait for each other in the database,
 *     and no append is one of them.
 * N2  Hints that come while a statement is under way go with the next one, each topic once.
 * N3  Nothing depends on a hint. One that is lost costs the time until the next look of its reader, who looks also after
 *     the connection that hears them broke and came again.
 */
import type { Connections, Listening } from './driver.js';

/** The channel of all hints of a database. */
export const HINT_CHANNEL = 'reprise_hints';

/** The bytes of a notification: the server takes fewer than 8,000. */
const PAYLOAD_BYTES_MAX = 7_900;

/** Topics that wait to be sent: beyond it one hint is about everything. */
const TOPICS_MAX = 2_000;

/** The hint that is about every topic at once. */
const EVERYTHING = '*';

/** Before a connection that was lost is made again, in milliseconds. */
const AGAIN_MS = 1_000;

/** Opens a connection that hears notifications. @throws RepriseError `store_failed` */
type Listen = (heard: (payload: string) => void, lost: () => void) => Promise<Listening>;

/** The hints of a process. */
export class Hints {
  #waiting = new Set<string>();
  #isSending = false;
  readonly #calls = new Map<string, Set<() => void>>();
  #listening: Promise<Listening | undefined> | undefined;
  #again: NodeJS.Timeout | undefined;
  #isOver = false;

  /** @param listen undefined where no connection can hear: then all readers look again and again */
  constructor(
    private readonly connections: Connections,
    private readonly listen: Listen | undefined,
  ) {}

  /** Sends a hint, some time soon. */
  send(topic: string): void {
    if (this.#isOver) return;
    if (this.#waiting.size >= TOPICS_MAX) this.#waiting = new Set([EVERYTHING]);
    else if (!this.#waiting.has(EVERYTHING)) this.#waiting.add(topic);
    if (this.#isSending) return;
    this.#isSending = true;
    void this.#sendAll();
  }

  /** Calls at each hint about a topic, and whenever hints may have been lost. @returns stops that */
  hear(topic: string, call: () => void): () => void {
    const calls = this.#calls.get(topic) ?? new Set();
    this.#calls.set(topic, calls.add(call));
    this.#listen();
    return () => {
      calls.delete(call);
      if (calls.size === 0 && this.#calls.get(topic) === calls) this.#calls.delete(topic);
    };
  }

  /** Hears and sends nothing more. */
  async close(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#again);
    this.#calls.clear();
    await (await this.#listening)?.end();
  }

  // N2
  async #sendAll(): Promise<void> {
    while (this.#waiting.size > 0 && !this.#isOver) {
      const payload = this.#next();
      // One that is not sent is lost, as any other may be (N3).
      await this.connections.rows('hint', 'SELECT pg_notify($1, $2)', [HINT_CHANNEL, payload]).catch(() => undefined);
    }
    this.#isSending = false; // in the same turn: a hint that comes after the last look at those that wait begins anew
  }

  #next(): string {
    let payload = '';
    for (const topic of this.#waiting) {
      const longer = payload === '' ? topic : `${payload} ${topic}`;
      if (payload !== '' && Buffer.byteLength(longer) > PAYLOAD_BYTES_MAX) break;
      payload = longer;
      this.#waiting.delete(topic);
    }
    return payload;
  }

  #listen(): void {
    if (this.listen === undefined || this.#listening !== undefined || this.#isOver) return;
    const mine = this.listen(
      (payload) => this.#heard(payload),
      () => this.#lost(),
    ).then(
      (listening) => {
        this.#heard(EVERYTHING); // what was committed before is not told
        return listening;
      },
      () => {
        this.#lost();
        return undefined;
      },
    );
    this.#listening = mine;
  }

  #lost(): void {
    if (this.#isOver) return;
    clearTimeout(this.#again);
    this.#again = setTimeout(() => {
      this.#listening = undefined;
      if (this.#calls.size > 0) this.#listen();
    }, AGAIN_MS).unref();
  }

  #heard(payload: string): void {
    const topics = payload === EVERYTHING ? [...this.#calls.keys()] : payload.split(' ');
    for (const topic of topics) for (const call of [...(this.#calls.get(topic) ?? [])]) call();
  }
}
