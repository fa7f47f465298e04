/**
 * Finds worlds with posted calls that this process has open, or that no living process has, and has them executed.
 *
 * Invariants
 * V1  A world is opened for its calls by the claim of a host, which no living process loses a world to.
 * V2  Hints only end a wait early: with all of them lost, each look finds what waits.
 * V3  A world that cannot be opened keeps no other one waiting.
 * V4  A call whose operation no process knows is given up after a time in which a release that knows it could have come: no
 *     such process was heard of for {@link UNKNOWN_MS}, and this one has looked for as long.
 */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { UnknownCall, WaitingWorld } from '@reprise/store-postgres';
import { pause } from '../time/waits.js';
import { type Outcome, writeOutcome } from '../wire/outcome.js';
import { type ServiceParts, WorldService } from './world-service.js';

/** What finds and executes posted calls. */
interface DeliveryParts extends Omit<ServiceParts, 'isOver'> {
  /** Keeps a world open until it is released for the first time, and opens it when no living process has it. */
  lease(world: string): Promise<{ release(): void }>;
  /** The longest time between two looks, in milliseconds. */
  readonly lookMs: number;
  /** How long answered calls are kept, in milliseconds. */
  readonly keepMs: number;
  /** Tells operators that the database failed. */
  failed(error: unknown): void;
}

/** Worlds whose calls are executed at once. */
const WORLDS_AT_ONCE = 32;

/** Worlds that are read at once, and how often in one look: the next one continues. */
const PAGE_WORLDS = 256;
const PAGES_MAX = 16;

/** Between two removals of answered calls, in milliseconds. */
const SWEEP_MS = 60_000;

/** How long a posted call waits whose operation no process of the fleet knows, in milliseconds: longer than a deployment. */
const UNKNOWN_MS = 3_600_000;

/** Calls that are given up at once; the next removal goes on. */
const GIVEN_UP_AT_ONCE = 1_000;

/** How long a world waits that could not be opened, in milliseconds: doubling from the first to the last. */
const REST_MS_FIRST = 1_000;
const REST_MS_MAX = 60_000;

/** Worlds that are remembered because they could not be opened. */
const RESTING_MAX = 10_000;

interface Rest {
  readonly until: number;
  readonly nextMs: number;
}

/** Executes posted calls until it is stopped. */
export class Delivery {
  readonly #services = new Map<string, WorldService>();
  /** The worlds whose calls are executed now. */
  readonly #serving = new Map<string, Promise<void>>();
  readonly #resting = new Map<string, Rest>();
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #running: Promise<void> | undefined;
  #unsubscribe: () => void = () => undefined;
  #after = '';
  #sweepAt = Number.NEGATIVE_INFINITY;
  #startedAt = Number.POSITIVE_INFINITY;
  /** The rows of calls that nobody knew the last time. */
  #unknown: ReadonlySet<number> = new Set();
  #hasFailed = false;
  #isFull = false;

  constructor(private readonly parts: DeliveryParts) {}

  start(): void {
    this.#startedAt = this.parts.now();
    this.#unsubscribe = this.parts.posts.changed(() => this.look());
    this.#running = this.#run();
  }

  /** Looks at once for what waits. */
  look(): void {
    this.#wake.abort();
  }

  /** Takes no more calls. Resolves when those that run have ended. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stop.abort();
    this.look();
    await this.#running;
    await Promise.all(this.#serving.values());
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      try {
        await this.#lookOnce();
        this.#hasFailed = false;
      } catch (error) {
        if (!this.#hasFailed && !this.#stop.signal.aborted) this.parts.failed(error);
        this.#hasFailed = true; // told once, until it is over
      }
      if (!this.#stop.signal.aborted) await pause(this.parts.lookMs, this.#wake.signal);
    }
  }

  /** Goes round once, from where the look before ended. */
  async #lookOnce(): Promise<void> {
    await this.#sweep();
    let isLastTurn = this.#after === '';
    for (let page = 0; page < PAGES_MAX; page++) {
      const found = await this.parts.posts.worlds(this.#after, PAGE_WORLDS);
      if (!found.every((one) => this.#admit(one))) return; // the end of a service looks again, from here on
      if (found.length === PAGE_WORLDS) continue;
      this.#after = '';
      if (isLastTurn) return;
      isLastTurn = true;
    }
  }

  /** @returns whether there is room for more */
  #admit({ world, isKnown, isOwn }: WaitingWorld): boolean {
    if (this.#stop.signal.aborted) return false;
    const isServed = this.#serving.has(world);
    this.#isFull = !isServed && this.#serving.size >= WORLDS_AT_ONCE;
    if (this.#isFull) return false;
    this.#after = world;
    if (isServed) this.#services.get(world)?.more();
    else if ((isOwn || isKnown) && !this.#rests(world)) this.#serve(world);
    return true;
  }

  async #sweep(): Promise<void> {
    const now = this.parts.now();
    if (now < this.#sweepAt) return;
    this.#sweepAt = now + SWEEP_MS;
    for (const [world, service] of this.#services)
      if (!this.#serving.has(world) && !service.rests()) this.#services.delete(world); // it is served elsewhere
    await this.parts.posts.announce();
    await this.parts.posts.sweep(this.parts.keepMs);
    if (now - this.#startedAt >= UNKNOWN_MS) await this.#giveUp();
  }

  // V4
  async #giveUp(): Promise<void> {
    const { posts } = this.parts;
    const found = await posts.unknown(UNKNOWN_MS, GIVEN_UP_AT_ONCE);
    // The database may have been away from all: the next time all others have said what they know.
    const again = found.filter(({ row }) => this.#unknown.has(row));
    this.#unknown = new Set(found.map(({ row }) => row));
    for (const call of again)
      if (!this.#stop.signal.aborted) await posts.answer(call.row, writeOutcome(unknownTo(call)));
  }

  #rests(world: string): boolean {
    return (this.#resting.get(world)?.until ?? Number.NEGATIVE_INFINITY) > this.parts.now();
  }

  #serve(world: string): void {
    const service =
      this.#services.get(world) ?? new WorldService({ ...this.parts, isOver: () => this.#stop.signal.aborted }, world);
    this.#services.set(world, service);
    const served = this.#serveOpen(service).finally(() => {
      this.#serving.delete(world);
      if (!service.rests()) this.#services.delete(world);
      if (this.#isFull) this.look();
    });
    this.#serving.set(world, served);
  }

  /** Never rejects: a world that does not open rests for a while. */
  async #serveOpen(service: WorldService): Promise<void> {
    const { world } = service;
    try {
      const lease = await this.parts.lease(world);
      try {
        this.#resting.delete(world);
        await service.run(() => lease.release());
      } finally {
        lease.release();
      }
    } catch (error) {
      this.#rest(world, isRepriseError(error, 'world_locked')); // its host has told why
    }
  }

  #rest(world: string, isElsewhere: boolean): void {
    const ms = isElsewhere ? this.parts.lookMs : (this.#resting.get(world)?.nextMs ?? REST_MS_FIRST);
    this.#resting.delete(world);
    this.#resting.set(world, { until: this.parts.now() + ms, nextMs: Math.min(2 * ms, REST_MS_MAX) });
    if (this.#resting.size > RESTING_MAX)
      for (const oldest of this.#resting.keys()) return void this.#resting.delete(oldest);
  }
}

function unknownTo({ world, operation, request, tries }: UnknownCall): Outcome {
  const error = new RepriseError('call_unanswered', 'no process of the fleet knows the operation of a posted call', {
    where: `${operation} of ${world}`,
    actual: `posted under the id ${request}, and begun ${tries} times`,
    reason: 'unknown_operation',
    hint: `${tries === 0 ? 'It was not executed.' : 'It may have been executed.'} When a process runs that knows the operation, post it under another id.`,
  });
  return { kind: 'error', error };
}
