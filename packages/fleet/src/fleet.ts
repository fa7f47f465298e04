/**
 * A fleet: processes that share worlds in one database. A call of a world runs in the process that has it open.
 *
 * Invariants
 * L1  A process that closes takes no call any more before it begins to release its worlds, and ends after all have left.
 * L2  Input and output pass through their bytes also where a call stays in its process: it means the same everywhere.
 * L3  A world that the app of this process refuses is released, and its callers are sent to the other processes in turn:
 *     in a rolling deployment they see an error of opening only when there is no other process.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  actor as actorShape,
  aPrincipal,
  aSignal,
  isFilled,
  isRepriseError,
  type KnownOptions,
  type Principal,
  present,
  RepriseError,
  requireArgument,
  requireFields,
  requireKnownOptions,
  textOf,
  wholeFrom,
} from '@reprise/contracts';
import { encode, type RequestOptions, readFrame, type WorldFrame } from '@reprise/kernel';
import { FOLLOW_OPTIONS, type FollowFramesOptions, followFrames } from '@reprise/kernel/follow';
import {
  type Host,
  type HostedWorld,
  type Lease,
  openHost,
  type RowQuery,
  requireWorldId,
  type WorldRow,
} from '@reprise/kernel/host';
import { type PostedCalls, type PostgresDatabase, postedCallsOf, postgres } from '@reprise/store-postgres';
import { tryEverywhere } from './call.js';
import { Execution } from './execution.js';
import { Receiver } from './http/receiver.js';
import { Sender } from './http/sender.js';
import { type Operation, readOutput, writeInput } from './operation.js';
import { type FleetOptions, requireFleetOptions, secretsOf, TIMER_MS_MAX } from './options.js';
import { Delivery } from './posts/delivery.js';
import { Posting } from './posts/posting.js';
import { askedElsewhere, Routes } from './routes.js';
import { firstOf, pause, whenAborted } from './time/waits.js';
import type { Outcome } from './wire/outcome.js';
import { type Asked, type ForwardedCall, Secrets, writeCall } from './wire/seal.js';

/** On whose behalf {@link Fleet.call} calls, and how long it waits. */
export interface CallOptions extends RequestOptions {
  /** How long to wait for an answer, in milliseconds; half a minute when absent. */
  readonly within?: number;
  /** Stops waiting. What the call has requested in its world stays. */
  readonly signal?: AbortSignal;
}

/** A call that was posted: what {@link Fleet.answer} needs to find it, in any process and at any time. */
export interface Posted {
  readonly id: string;
  readonly as: Principal;
}

/** Which posted call {@link Fleet.answer} asks for, and how long it waits. */
export interface AnswerOptions {
  /** The id under which it was posted. */
  readonly id: string;
  /** The principal for which it was posted; `operator` when absent. */
  readonly as?: Principal;
  /** How long to wait for the answer, in milliseconds; half a minute when absent, and 0 to look once. */
  readonly within?: number;
  /** Stops waiting. The call stays posted. */
  readonly signal?: AbortSignal;
}

const POST_OPTIONS: KnownOptions<RequestOptions> = {
  id: textOf(256),
  as: aPrincipal,
  actor: {
    expected: 'an actor, such as { kind: "program", id: "nightly" }',
    fits: (thing) => actorShape.safeParse(thing).success,
  },
};

const CALL_OPTIONS: KnownOptions<CallOptions> = {
  ...POST_OPTIONS,
  within: wholeFrom(1, TIMER_MS_MAX),
  signal: aSignal,
};

const ANSWER_OPTIONS: KnownOptions<AnswerOptions> = {
  id: textOf(256),
  as: aPrincipal,
  within: wholeFrom(0, TIMER_MS_MAX),
  signal: aSignal,
};

const WITHIN_MS = 30_000;
const TTL_MS = 10_000;

/** Posted calls, unless the options say otherwise: looks, attempts and answers, in milliseconds. */
const LOOK_MS = 1_000;
const RUN_MS = 30_000;
const KEEP_MS = 86_400_000;

/** How long `close` waits for users and calls, in milliseconds. */
const CLOSE_MS = 10_000;

/** How long the last answers may take to leave, in milliseconds. */
const LAST_ANSWERS_MS = 1_000;

/** Parts of a lease: after which silence of a busy process it is taken for stopped. */
const SILENCE_IN_TTL = 4;
const SUSPECT_SILENCE_IN_TTL = 8;

/**
 * Joins a fleet: opens the door for calls from the other processes, and a host of the worlds of the database.
 *
 * @throws RepriseError `invalid_argument`, `store_failed`, `runtime_unsupported` without the package `pg`
 * @example
 * const fleet = await openFleet({
 *   database: process.env.DATABASE_URL ?? '',
 *   secret: process.env.FLEET_SECRET ?? '',
 *   open: (_id, base) => openKernelWorld({ ...base, app, adapters }),
 *   operations: [order],
 * })
 * const { frame } = await fleet.call('antwerp', order, { item: 'lamp' }, { id: 'order-17', as: 'human:ann' })
 */
export async function openFleet<W extends HostedWorld>(options: FleetOptions<W>): Promise<Fleet<W>> {
  requireFleetOptions(options);
  const fleet = new Fleet(options);
  try {
    await fleet.start();
    return fleet;
  } catch (error) {
    await fleet.close({ within: 0 }).catch(() => undefined);
    throw error;
  }
}

/** A process of a fleet. Made by {@link openFleet}. */
export class Fleet<W extends HostedWorld> implements AsyncDisposable {
  /** With the secret and the password of the database, which no log of this object may show. */
  readonly #options: FleetOptions<W>;
  readonly #secrets: Secrets;
  readonly #receiver: Receiver;
  readonly #sender: Sender;
  readonly #routes = new Routes();
  readonly #operations: ReadonlyMap<string, Operation<W>>;
  readonly #execution: Execution<W>;
  readonly #ttl: number;
  #database: PostgresDatabase | undefined;
  #host: Host<W> | undefined;
  #address = '';
  #fleet = '';
  #isLeaving = false;
  /** Which of the other processes is tried next for a world of another release. */
  #turn = 0;
  #closing: Promise<void> | undefined;
  #delivery: Delivery | undefined;
  #posting: Posting | undefined;
  /** Aborted when this process begins to leave. */
  readonly #leaves = new AbortController();
  /** Calls of this process that wait for an answer from another one. */
  readonly #calls = new Set<Promise<unknown>>();
  #ended: () => void = () => undefined;
  /** Resolves when this process has left the fleet: after `close`, also when `reprise fleet drain` has asked for it. */
  readonly closed: Promise<void>;

  /** For {@link openFleet}, which checks the options. */
  constructor(options: FleetOptions<W>) {
    this.#options = options;
    this.#ttl = options.ttl ?? TTL_MS;
    this.#secrets = new Secrets(secretsOf(options.secret));
    this.#sender = new Sender(this.#secrets);
    this.#operations = new Map((options.operations ?? []).map((one) => [one.name, one]));
    this.#execution = new Execution<W>({
      operations: this.#operations,
      host: () => this.#opened(),
      tell: (error, world) => this.#tell(error, world),
    });
    this.#receiver = new Receiver({
      secrets: this.#secrets,
      fleet: () => this.#fleet,
      address: () => this.#address,
      execute: (call, signal) => this.#serve(call, signal),
      refused: (error) => this.#tell(error),
    });
    this.closed = new Promise((resolve) => {
      this.#ended = resolve;
    });
  }

  /** Opens the door, then the worlds. Called once, by {@link openFleet}. */
  async start(): Promise<void> {
    const options = this.#options;
    const { host = '127.0.0.1', port = 0 } = options.listen ?? {};
    const bound = await this.#receiver.listen(host, port);
    const shown = host.includes(':') ? `[${host}]` : host;
    // A process that starts again at this address has another name there: what was meant for this one is refused.
    this.#address = new URL(randomUUID(), options.address ?? `http://${shown}:${bound}`).href;
    const database = postgres(options.database, {
      ...present({ ttl: options.ttl, connectionsMax: options.connectionsMax, pooled: options.pooled }),
      ...present({ objects: options.objects, keys: options.keys, direct: options.direct }),
      ...present({ witness: options.witness }),
      onWitnessError: (error) => this.#tell(error),
      address: this.#address,
      onDrain: () => this.#drained(),
    });
    this.#database = database;
    const { name = 'default' } = options;
    this.#fleet = `${await database.id()} ${name}`;
    const posts = await postedCallsOf(database, name, [...this.#operations.keys()]); // before the worlds, which take all connections
    this.#host = await openHost<W>({
      directory: database.directory(name),
      store: (id) => database.world(this.#nameOf(id)),
      open: options.open,
      ...present({ maxOpen: options.maxOpen, idleMs: options.idleMs, waitMs: options.waitMs }),
      ...present({ limits: options.limits, onError: options.onError }),
    });
    this.#beginPosts(posts);
  }

  #beginPosts(posts: PostedCalls): void {
    const { lookMs = LOOK_MS, runMs = RUN_MS, keepMs = KEEP_MS } = this.#options.posts ?? {};
    this.#posting = new Posting(posts);
    this.#delivery = new Delivery({
      ...{ posts, lookMs, runMs, keepMs, now: () => performance.now() },
      attempt: (asked, signal) => this.#execution.attempt(asked, signal),
      lease: (world) => this.#opened().lease(world),
      failed: (error) => this.#tell(error),
    });
    this.#delivery.start();
  }

  /** How the other processes reach this one: `address` of the options with the name of this start behind it. */
  get address(): string {
    return this.#address;
  }

  /** The database of the fleet: for views, and for worlds outside the fleet. It closes with the fleet. */
  get database(): PostgresDatabase {
    if (this.#database === undefined) throw closedError();
    return this.#database;
  }

  /** The number of worlds that this process has open or is opening. */
  get openCount(): number {
    return this.#host?.openCount ?? 0;
  }

  /**
   * Calls a world, wherever it is open: here at once, in another process over HTTP. Where no living process has it, it is
   * opened here. While the process that has it cannot be reached and its lease lives, the call waits and tries again, with
   * the same id; a living process never loses a world by that.
   *
   * @param operation one of the `operations` of the fleet, which every process has
   * @param options `id` makes it safe to make the call again: the operation passes it on to the world
   * @returns the output
   * @throws RepriseError `call_unanswered` when there was no answer `within`, with the reason; `invalid_argument`,
   *   `invalid_value`, `bound_exceeded`, `host_closed`, `host_busy`, `operation_failed`, and what the operation throws
   */
  async call<I, O>(
    world: string,
    operation: Operation<W, I, O>,
    input: NoInfer<I>,
    options: CallOptions = {},
  ): Promise<O> {
    requireArgument(isFilled(world), 'fleet.call(world)', 'the id of a world', world);
    requireKnownOptions(options, CALL_OPTIONS, 'fleet.call');
    this.#requireOperation(operation as unknown as Operation<W>, 'fleet.call');
    if (this.#isLeaving) throw closedError();
    const { id = randomUUID(), as = 'operator', actor, within = WITHIN_MS, signal: given } = options;
    const bytes = writeInput(operation as unknown as Operation, input);
    const asked: Asked = { world, operation: operation.name, input: bytes, id, as, ...present({ actor }) };
    const over = AbortSignal.timeout(within);
    const { signal, leave } = firstOf(given === undefined ? [over] : [over, given]);
    const answering = this.#answer(asked, signal, performance.now() + within);
    this.#calls.add(answering);
    try {
      return readOutput(await answering) as O;
    } catch (error) {
      if (given?.aborted !== true || !isRepriseError(error, 'call_unanswered')) throw error;
      throw new RepriseError('call_unanswered', error.what, {
        ...error.details,
        reason: 'aborted',
        cause: given.reason,
      });
    } finally {
      leave();
      this.#calls.delete(answering);
    }
  }

  /**
   * Posts a call to a world: for a caller that cannot wait, or whose call must arrive although nobody has the world open, or
   * its process cannot be reached. The process that has the world executes it, or the next one that opens it, as a call with
   * this id; {@link Fleet.answer} has what it answered. Calls of one principal to one world are executed in the order in
   * which they were posted one after the other. Post it again with its id when the database did not answer.
   *
   * @param operation one of the `operations` of the fleet
   * @returns what finds the answer, once the call is durable
   * @throws RepriseError `invalid_argument`, `invalid_value`, `bound_exceeded`, `host_closed`, `store_failed`;
   *   `request_conflict` when another call was posted under the id
   * @example
   * const posted = await fleet.post('antwerp', order, { item: 'lamp' }, { id: 'order-17', as: 'human:ann' })
   * const { frame } = await fleet.answer('antwerp', order, posted)
   */
  async post<I, O>(
    world: string,
    operation: Operation<W, I, O>,
    input: NoInfer<I>,
    options: RequestOptions = {},
  ): Promise<Posted> {
    requireWorldId(world);
    requireKnownOptions(options, POST_OPTIONS, 'fleet.post');
    this.#requireOperation(operation as unknown as Operation<W>, 'fleet.post');
    const { id = randomUUID(), as = 'operator', actor } = options;
    for (const [name, text] of Object.entries({ id, as }))
      requireArgument(!text.includes('\0'), `fleet.post, ${name}`, 'text without U+0000, which no row can have', text);
    const bytes = writeInput(operation as unknown as Operation, input);
    this.#nameOf(world); // what the fleet refuses to open would wait for ever
    const call = { world, principal: as, request: id, operation: operation.name, input: bytes };
    await this.#posts().post({ ...call, ...(actor === undefined ? {} : { actor: encode(actor) }) });
    return { id, as };
  }

  /**
   * The answer of a posted call, from any process of the fleet. It is kept for a day (`posts` of the options).
   *
   * @param operation the one that was posted
   * @returns the output
   * @throws RepriseError `call_unanswered` with the reason `waiting` when it has no answer `within`, `forgotten` when no such
   *   call is posted, `abandoned` when it was begun again and again without an answer; what the operation has thrown;
   *   `request_conflict`, `invalid_argument`, `host_closed`, `store_failed`
   */
  async answer<I, O>(world: string, operation: Operation<W, I, O>, options: AnswerOptions): Promise<O> {
    requireWorldId(world);
    requireFields(options, 'fleet.answer(options)', 'the id of a posted call: { id }');
    requireKnownOptions(options, ANSWER_OPTIONS, 'fleet.answer');
    this.#requireOperation(operation as unknown as Operation<W>, 'fleet.answer');
    const { id, as = 'operator', within = WITHIN_MS, signal } = options;
    requireArgument(isFilled(id), 'fleet.answer, id', 'the id of a posted call', id);
    const { lookMs = LOOK_MS } = this.#options.posts ?? {};
    const ends = [AbortSignal.timeout(within), this.#leaves.signal, ...(signal === undefined ? [] : [signal])];
    const over = firstOf(ends);
    const wait = { lookMs, signal: over.signal };
    try {
      return readOutput(await this.#posts().answer({ world, principal: as, request: id }, operation.name, wait)) as O;
    } catch (error) {
      throw this.#isLeaving ? closedError() : error;
    } finally {
      over.leave();
    }
  }

  /**
   * Follows the frames of a world from this process, wherever the world is open: those that are durable, then new ones, until
   * the signal is aborted. It reads the database, and asks nothing of the process that has the world. A database that is away
   * is waited for.
   *
   * @throws RepriseError `world_absent`, `host_closed` when this process leaves, and those of `followFrames`
   * @example
   * for await (const { seq, records } of fleet.follow('antwerp', { from: 0, signal })) show(seq, records)
   */
  follow(world: string, options: FollowFramesOptions = {}): AsyncGenerator<WorldFrame, void> {
    requireWorldId(world);
    requireKnownOptions(options, FOLLOW_OPTIONS, 'fleet.follow');
    return this.#follow(world, options);
  }

  async *#follow(world: string, options: FollowFramesOptions): AsyncGenerator<WorldFrame, void> {
    if (this.#isLeaving) throw closedError();
    const left = this.#leaves.signal;
    const store = await this.database.world(this.#nameOf(world)).openReadonly();
    const { signal, leave } = firstOf(options.signal === undefined ? [left] : [options.signal, left]);
    try {
      for await (const { seq, at, head, bytes } of followFrames(store, { ...options, signal }))
        yield { seq, at, head, records: readFrame(bytes, seq).all };
    } finally {
      leave();
      await store.close();
    }
    if (left.aborted && options.signal?.aborted !== true) throw closedError();
  }

  /**
   * Uses a world in this process, as a host does: a function cannot travel.
   *
   * @throws RepriseError `world_locked` while another process has it open, and the errors of a host
   */
  use<R>(world: string, work: (world: W) => Promise<R> | R): Promise<R> {
    return this.#opened().use(world, work);
  }

  /** Like {@link Fleet.use}, until it is released: `await using lease = await fleet.lease(id)`. */
  lease(world: string): Promise<Lease<W>> {
    return this.#opened().lease(world);
  }

  /** The rows of the directory, by id, without opening any world. */
  worlds(query: RowQuery): Promise<readonly WorldRow[]> {
    return this.#opened().worlds(query);
  }

  /**
   * Leaves the fleet: takes no more calls, releases all idle worlds at once, waits for what runs, and releases the rest.
   * Callers elsewhere wait meanwhile, and see no error. Idempotent.
   *
   * @param options `within`: milliseconds to wait for users and calls, and as many again for effects; 10,000 when absent
   */
  close(options: { readonly within?: number } = {}): Promise<void> {
    requireKnownOptions(options, { within: wholeFrom(0, TIMER_MS_MAX) }, 'fleet.close');
    this.#closing ??= this.#end(options.within ?? CLOSE_MS);
    return this.#closing;
  }

  /** `await using fleet = …` closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(within: number): Promise<void> {
    this.#isLeaving = true; // L1
    const patience = AbortSignal.timeout(within);
    const delivered = Promise.race([this.#delivery?.stop(), whenAborted(patience)]);
    this.#leaves.abort();
    const own = Promise.race([Promise.allSettled([...this.#calls]), whenAborted(patience)]);
    await this.#host?.close({ within });
    await delivered;
    await this.#database?.close();
    await own;
    // The users had their time: what still runs has no world any more, and what has ended is only to leave.
    const cut = setTimeout(() => this.#receiver.cut(), Math.min(within, LAST_ANSWERS_MS));
    await this.#receiver.close();
    clearTimeout(cut);
    this.#sender.close();
    this.#ended();
  }

  #drained(): void {
    try {
      this.#options.onDrain?.();
    } catch (error) {
      this.#tell(error);
    }
    void this.close().catch((error: unknown) => this.#tell(error));
  }

  /** The name of a world in the database. */
  #nameOf(world: string): string {
    return this.#options.world?.(world) ?? world;
  }

  #posts(): Posting {
    if (this.#posting === undefined || this.#isLeaving) throw closedError();
    return this.#posting;
  }

  #opened(): Host<W> {
    if (this.#host === undefined) throw closedError();
    return this.#host;
  }

  #answer(asked: Asked, signal: AbortSignal, until: number): Promise<Uint8Array> {
    const { world, operation } = asked;
    return tryEverywhere(
      {
        known: this.#routes.get(world),
        found: (address) => this.#routes.set(world, address),
        here: (over) => this.#hereOrAtAnother(asked, over),
        there: (address, over) => this.#there(address, asked, over, until),
        pause,
      },
      `${operation} of ${world}`,
      signal,
    );
  }

  /** A call from another process: it is done here or not at all (receiver/R2). */
  async #serve(call: ForwardedCall, signal: AbortSignal): Promise<Outcome> {
    const outcome = await this.#execution.attempt(call, signal);
    if (outcome.kind === 'error' && isRepriseError(outcome.error, 'host_closed')) return LEAVING;
    return outcome;
  }

  /** An attempt in this process; where the world is of another release, the next process that lives is tried (L3). */
  async #hereOrAtAnother(asked: Asked, signal: AbortSignal): Promise<Outcome> {
    const outcome = await this.#execution.attempt(asked, signal);
    if (outcome.kind !== 'again' || outcome.reason !== 'wrong_release') return outcome;
    try {
      const { hosts } = await this.database.fleet();
      const isOther = (address: string) => address !== this.#address && !this.#routes.isStranger(address);
      return askedElsewhere(outcome, { hosts, isOther, turn: this.#turn++ });
    } catch {
      return outcome; // the database is asked again at the next attempt
    }
  }

  async #there(address: string, asked: Asked, signal: AbortSignal, until: number): Promise<Outcome> {
    const patienceMs = Math.ceil(
      this.#ttl / (this.#routes.isSuspect(address) ? SUSPECT_SILENCE_IN_TTL : SILENCE_IN_TTL),
    );
    const body = writeCall({
      ...asked,
      fleet: this.#fleet,
      to: address,
      within: Math.max(0, Math.ceil(until - performance.now())),
      patience: patienceMs,
      at: Date.now(),
      nonce: randomBytes(16).toString('hex'),
    });
    const outcome = await this.#sender.send(address, { body, patienceMs, signal });
    this.#routes.suspect(address, outcome.kind === 'again' && outcome.reason === 'silent');
    if (isOfAnotherFleet(outcome)) this.#routes.stranger(address);
    return outcome;
  }

  #requireOperation(operation: Operation<W>, call: string): void {
    const isKnown = operation !== undefined && this.#operations.get(operation?.name) === operation;
    requireArgument(isKnown, `${call}(operation)`, 'one of the operations of the fleet', operation);
  }

  #tell(error: unknown, world?: string): void {
    try {
      this.#options.onError?.({ world, error, retryAt: null });
    } catch {
      // a throwing `onError` must not bring the fleet down
    }
  }
}

/** Whether a process has refused a request, with its signature, for the name of the fleet in it. */
function isOfAnotherFleet(outcome: Outcome): boolean {
  return (
    outcome.kind === 'again' &&
    outcome.reason === 'refused' &&
    isRepriseError(outcome.error, 'forward_refused') &&
    outcome.error.details.reason === 'fleet'
  );
}

const LEAVING: Outcome = { kind: 'again', reason: 'leaving' };

function closedError(): RepriseError {
  return new RepriseError('host_closed', 'this process has left the fleet', {
    hint: 'Make the call at another process, with the same id.',
  });
}
