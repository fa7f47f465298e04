/**
 * A provider that is a tape: a `fetch` that answers with recorded bytes, in the recorded pieces.
 *
 * Invariants
 * T1  A request that breaks a rule of its protocol is noted, whatever it is answered.
 * T2  `exactly`: each request is, in its path and the bytes of its body, a recorded one that was not asked for yet, the
 *     first of those that are equal; none is answered twice, and what is left over is told.
 * T3  Otherwise, after a crash, a request is answered as its like was: the same bytes, or the same agent at the same
 *     point of the conversation, or, beyond what was recorded, the agent's last answer again. The answers of one point
 *     come in their order, the last one again and again.
 */
import { Buffer } from 'node:buffer';
import { validateRequest } from '@reprise/providers';
import { Latch } from './latch.js';
import type { Asked, RequestBody, WireProfile } from './profiles.js';
import type { Exchange, Tape } from './tape.js';

/** Options of a playback. */
export interface Playing {
  readonly tape: Tape;
  readonly profile: WireProfile;
  /** Whether requests have to equal the recorded ones. */
  readonly exactly: boolean;
  /** The agents that get no answer before {@link TapePlayer.letGo}, by their instructions. */
  readonly held: readonly string[];
}

const NEVER = new Promise<void>(() => undefined);

/** Plays a tape. */
export class TapePlayer {
  /** The errors of requests. */
  readonly problems: string[] = [];
  /** The bodies of all that came, in order. */
  readonly bodies: string[] = [];
  readonly #asked = new Map<Exchange, number>();
  readonly #points: ReadonlyMap<Exchange, Asked>;
  readonly #held = new Latch();
  #silence = new Latch();

  constructor(private readonly playing: Playing) {
    this.#points = new Map(playing.tape.map((exchange) => [exchange, this.#pointOf(textOf(exchange.request))]));
  }

  /** Resolves when an endless answer has sent everything that it has. */
  get silent(): Promise<void> {
    return this.#silence.opened;
  }

  /** The number of requests. */
  get requests(): number {
    return this.bodies.length;
  }

  /** The newest one of an agent, by its instructions, or of any. */
  newest(agent?: string): string {
    const isOf = (body: string) => agent === undefined || this.#pointOf(body).system.includes(agent);
    return this.bodies.findLast(isOf) ?? '';
  }

  /** Releases withheld answers. */
  letGo(): void {
    this.#held.open();
  }

  /** Begins a new process: answers that were withheld from the last one are withheld from it, too. */
  reconnect(): void {
    this.#silence = new Latch();
  }

  /** The recorded exchanges that were not requested. */
  get left(): number {
    return this.playing.tape.length - this.#asked.size;
  }

  /** In place of the platform's. */
  readonly fetch: typeof globalThis.fetch = async (url, init) => {
    const { pathname } = new URL(String(url));
    const body = textOf(init?.body as Uint8Array);
    const signal = init?.signal ?? undefined;
    this.bodies.push(body);
    const { format } = this.playing.profile;
    for (const issue of validateRequest(format, JSON.parse(body))) this.problems.push(JSON.stringify(issue)); // T1
    const exchange = this.playing.exactly ? this.#exactly(pathname, body) : this.#alike(body);
    if (exchange === undefined) throw this.#unknown(pathname, body);
    this.#asked.set(exchange, (this.#asked.get(exchange) ?? 0) + 1);
    if (this.#isHeld(body)) await unlessAborted(this.#held.opened, signal);
    if (exchange.status === 0) await unlessAborted(NEVER, signal);
    return new Response(this.#bodyOf(exchange, signal), { status: exchange.status, headers: exchange.headers });
  };

  /** @returns the recorded exchange for exactly this request, if it was not requested yet */
  #exactly(path: string, body: string): Exchange | undefined {
    const isIt = (one: Exchange) => one.path === path && textOf(one.request) === body;
    return this.playing.tape.find((one) => !this.#asked.has(one) && isIt(one)); // T2
  }

  #alike(body: string): Exchange | undefined {
    const { tape } = this.playing;
    const { system, said } = this.#pointOf(body);
    const ofAgent = tape.filter((one) => this.#points.get(one)?.system === system);
    const same = ofAgent.filter(({ request }) => textOf(request) === body);
    const atPoint = ofAgent.filter((one) => this.#points.get(one)?.said === said);
    const alike = [same, atPoint, ofAgent.slice(-1)].find(({ length }) => length > 0) ?? [];
    return alike.find((one) => !this.#asked.has(one)) ?? alike.at(-1); // T3
  }

  #pointOf(body: string): Asked {
    return this.playing.profile.read(JSON.parse(body) as RequestBody);
  }

  #isHeld(body: string): boolean {
    const { system } = this.#pointOf(body);
    return this.playing.held.some((to) => system.includes(to));
  }

  #unknown(path: string, body: string): Error {
    const { tape } = this.playing;
    const nearest = tape.find((one) => !this.#asked.has(one)) ?? tape.at(-1);
    const recorded = nearest === undefined ? '' : textOf(nearest.request);
    let at = 0;
    while (at < body.length && body[at] === recorded[at]) at++;
    const around = (text: string) => text.slice(Math.max(0, at - 40), at + 80);
    const said = `request ${this.requests}, to ${path}, is not the recorded one: at ${at} ${around(body)}`;
    this.problems.push(`${said}, recorded to ${nearest?.path} ${around(recorded)}`);
    return new Error(said);
  }

  #bodyOf({ pieces, whole }: Exchange, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const piece = pieces[at++];
        if (piece !== undefined) return controller.enqueue(piece);
        if (whole) return controller.close();
        this.#silence.open();
        await unlessAborted(NEVER, signal);
      },
    });
  }
}

function unlessAborted(event: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return event;
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([event, aborted]);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
