/**
 * Executes the posted calls of one world, which this process has open.
 *
 * Invariants
 * O1  Calls of one principal are executed one after the other, in the order in which they were posted; principals side by side.
 * O2  A call without an answer keeps the later calls of its principal waiting, and nobody else.
 * O3  What is written as the answer is what an attempt has said. Only a call that was begun {@link TRIES_MAX} times without an
 *     answer gets another one: `call_unanswered`.
 */
import { isRepriseError, type Principal, present, RepriseError } from '@reprise/contracts';
import { decode } from '@reprise/kernel';
import type { PostedCalls, TakenCall } from '@reprise/store-postgres';
import { type Outcome, writeOutcome } from '../wire/outcome.js';
import type { Asked } from '../wire/seal.js';

/** What executes posted calls, whichever world they are for. */
export interface ServiceParts {
  readonly posts: PostedCalls;
  /** One attempt in this process. Never rejects. */
  attempt(asked: Asked, signal: AbortSignal): Promise<Outcome>;
  /** How long one attempt may take, in milliseconds. */
  readonly runMs: number;
  /** The monotonic time, in milliseconds. */
  now(): number;
  /** Whether this process takes no more calls. */
  isOver(): boolean;
}

/** Principals of a world whose calls run at once. */
const PRINCIPALS_AT_ONCE = 16;

/** How often a call is begun that ends neither its time nor its process with an answer. */
export const TRIES_MAX = 8;

/** How long a principal waits whose call had no answer, in milliseconds: doubling from the first to the last. */
const REST_MS_FIRST = 1_000;
const REST_MS_MAX = 60_000;

/** Principals that wait: a world with more of them takes no other calls until one of them was answered. */
const RESTING_MAX = 1_000;

interface Rest {
  readonly until: number;
  readonly nextMs: number;
}

/** The posted calls of one world. It is kept while a principal waits for its next try. */
export class WorldService {
  readonly #running = new Map<string, Promise<void>>();
  readonly #resting = new Map<string, Rest>();
  #more: () => void = () => undefined;
  #hasMore = false;
  #letGo: () => void = () => undefined;

  constructor(
    private readonly parts: ServiceParts,
    readonly world: string,
  ) {}

  /** Whether a principal waits for its next try. One that has not been tried for long is forgotten: another process has its calls. */
  rests(): boolean {
    const forgotten = this.parts.now() - REST_MS_MAX;
    for (const [principal, { until }] of this.#resting) if (until < forgotten) this.#resting.delete(principal);
    return this.#resting.size > 0;
  }

  /** Says that there may be more calls. */
  more(): void {
    this.#hasMore = true;
    this.#more();
  }

  /**
   * Executes what waits, until nothing does that could be executed now.
   *
   * @param letGo no longer keeps the world open; called also more than once. A world that is lost or has failed is opened again
   *   only when nobody keeps it, and each call waits for that, posted or not
   * @throws RepriseError when the database fails
   */
  async run(letGo: () => void): Promise<void> {
    this.#letGo = letGo;
    try {
      for (;;) {
        this.#hasMore = false;
        while (await this.#begin());
        if (this.#running.size === 0 && !this.#hasMore) return;
        const told = new Promise<void>((resolve) => {
          this.#more = resolve;
          if (this.#hasMore) resolve();
        });
        await Promise.race([told, ...this.#running.values()]);
      }
    } finally {
      await Promise.all(this.#running.values());
    }
  }

  /** Begins the next calls. @returns whether there were some */
  async #begin(): Promise<boolean> {
    const free = PRINCIPALS_AT_ONCE - this.#running.size;
    const now = this.parts.now();
    const resting = [...this.#resting].filter(([, { until }]) => until > now).map(([principal]) => principal);
    if (this.parts.isOver() || free <= 0 || resting.length >= RESTING_MAX) return false;
    const taken = await this.parts.posts.take(this.world, [...this.#running.keys(), ...resting], free);
    const byPrincipal = new Map<string, TakenCall[]>();
    for (const call of taken) byPrincipal.set(call.principal, [...(byPrincipal.get(call.principal) ?? []), call]);
    for (const [principal, calls] of byPrincipal) {
      const lane = this.#execute(principal, calls).finally(() => this.#running.delete(principal));
      this.#running.set(principal, lane);
    }
    return taken.length > 0;
  }

  /** Executes calls of one principal in their order (O1). Never rejects. */
  async #execute(principal: string, calls: readonly TakenCall[]): Promise<void> {
    const { posts } = this.parts;
    let done = 0;
    for (const call of calls) {
      const ends = this.parts.isOver() ? 'not now' : await this.#one(call);
      if (ends !== 'answered') {
        this.#letGo();
        const unbegun = calls.slice(ends === 'begun' ? done + 1 : done);
        await posts.giveBack(unbegun.map(({ row }) => row)).catch(() => undefined); // they count as begun
        return this.#rest(principal);
      }
      done++;
    }
    this.#resting.delete(principal);
  }

  /** @returns `begun` when the call itself has used up its time, `not now` when it is not at fault */
  async #one(call: TakenCall): Promise<'answered' | 'begun' | 'not now'> {
    const { posts, attempt, runMs } = this.parts;
    const isTried = call.tries > TRIES_MAX; // O3
    const outcome = isTried ? abandoned(call) : await attempt(askedOf(call), AbortSignal.timeout(runMs));
    const isBusy = outcome.kind === 'error' && isRepriseError(outcome.error, 'host_busy');
    const isAway = outcome.kind === 'error' && (isRepriseError(outcome.error, 'host_closed') || outcome.isUnopened);
    if (isAway || outcome.kind === 'elsewhere') return 'not now';
    if (outcome.kind === 'again') return outcome.reason === 'slow' ? 'begun' : 'not now';
    if (isBusy) return 'begun';
    return posts.answer(call.row, writeOutcome(outcome)).then(
      () => 'answered',
      () => 'begun', // it was executed, and is recognized by its id when it is executed again
    );
  }

  #rest(principal: string): void {
    const ms = this.#resting.get(principal)?.nextMs ?? REST_MS_FIRST;
    this.#resting.set(principal, { until: this.parts.now() + ms, nextMs: Math.min(2 * ms, REST_MS_MAX) });
  }
}

function askedOf({ world, operation, input, request, principal, actor }: TakenCall): Asked {
  const given = actor === undefined ? undefined : (decode(actor) as unknown as NonNullable<Asked['actor']>);
  return { world, operation, input, id: request, as: principal as Principal, ...present({ actor: given }) };
}

function abandoned({ world, operation, request, tries }: TakenCall): Outcome {
  const error = new RepriseError('call_unanswered', 'a posted call was begun again and again, and had no answer', {
    where: `${operation} of ${world}`,
    actual: `begun ${tries - 1} times under the id ${request}`,
    reason: 'abandoned',
    hint: 'It may have been executed. Does it take too long, or end its process? Then post it under another id.',
  });
  return { kind: 'error', error };
}
