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
  present,
  RepriseError,
  requireArgument,
  requireKnownOptions,
  textOf,
  wholeFrom,
} from '@reprise/contracts';
import type { RequestOptions } from '@reprise/kernel';
import { type Host, type HostedWorld, type Lease, openHost, type RowQuery, type WorldRow } from '@reprise/kernel/host';
import { type PostgresDatabase, postgres } from '@reprise/store-postgres';
import { tryEverywhere } from './call.js';
import { Execution } from './execution.js';
import { Receiver } from './http/receiver.js';
import { Sender } from './http/sender.js';
import { type Operation, readOutput, writeInput } from './operation.js';
import { type FleetOptions, requireFleetOptions, secretsOf } from './options.js';
import { askedElsewhere, Routes } from './routes.js';
import { pause, whenAborted } from './waits.js';
import type { Outcome } from './wire/outcome.js';
import { type Asked, type ForwardedCall, Secrets, writeCall } from './wire/seal.js';

/** On whose behalf {@link Fleet.call} calls, and how long it waits. */
export interface CallOptions extends RequestOptions {
  /** How long to wait for an answer, in milliseconds; half a minute when absent. */
  readonly within?: number;
  /** Stops waiting. What the call has requested in its world stays. */
  readonly signal?: AbortSignal;
}

/** The longest time of a timer of Node. */
const TIMER_MS_MAX = 2 ** 31 - 1;

const CALL_OPTIONS: KnownOptions<CallOptions> = {
  id: textOf(256),
  as: aPrincipal,
  actor: {
    expected: 'an actor, such as { kind: "program", id: "nightly" }',
    fits: (thing) => actorShape.safeParse(thing).success,
  },
  within: wholeFrom(1, TIMER_MS_MAX),
  signal: aSignal,
};

const WITHIN_MS = 30_000;
const TTL_MS = 10_000;

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
  /** Calls of this process that wait for an answer from another one. */
  readonly #calls = new Set<Promise<unknown>>();
  #ended: () => void = () => undefined;
  /** Resolves when this process has left the fleet: after `close`, also when `reprise fleet drain` has asked for it. */
  readonly closed: Promise<void>;

  /** For {@link openFleet}, which checks the options. */
  constructor(private readonly options: FleetOptions<W>) {
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
    const { options } = this;
    const { host = '127.0.0.1', port = 0 } = options.listen ?? {};
    const bound = await this.#receiver.listen(host, port);
    const shown = host.includes(':') ? `[${host}]` : host;
    // A process that starts again at this address has another name there: what was meant for this one is refused.
    this.#address = new URL(randomUUID(), options.address ?? `http://${shown}:${bound}`).href;
    const database = postgres(options.database, {
      ...present({ ttl: options.ttl, connectionsMax: options.connectionsMax, pooled: options.pooled }),
      ...present({ objects: options.objects, keys: options.keys }),
      ...present({ witness: options.witness }),
      onWitnessError: (error) => this.#tell(error),
      address: this.#address,
      onDrain: () => this.#drained(),
    });
    this.#database = database;
    const { name = 'default', world = (id: string) => id } = options;
    this.#fleet = `${await database.id()} ${name}`;
    this.#host = await openHost<W>({
      directory: database.directory(name),
      store: (id) => database.world(world(id)),
      open: options.open,
      ...present({ maxOpen: options.maxOpen, idleMs: options.idleMs, waitMs: options.waitMs }),
      ...present({ limits: options.limits, onError: options.onError }),
    });
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
    this.#requireOperation(operation as unknown as Operation<W>);
    if (this.#isLeaving) throw closedError();
    const { id = randomUUID(), as = 'operator', actor, within = WITHIN_MS, signal: given } = options;
    const bytes = writeInput(operation as unknown as Operation, input);
    const asked: Asked = { world, operation: operation.name, input: bytes, id, as, ...present({ actor }) };
    const over = AbortSignal.timeout(within);
    const signal = given === undefined ? over : AbortSignal.any([over, given]);
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
      this.#calls.delete(answering);
    }
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
    const own = Promise.race([Promise.allSettled([...this.#calls]), whenAborted(patience)]);
    await this.#host?.close({ within });
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
      this.options.onDrain?.();
    } catch (error) {
      this.#tell(error);
    }
    void this.close().catch((error: unknown) => this.#tell(error));
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
      return askedElsewhere(outcome, { hosts, own: this.#address, turn: this.#turn++ });
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
    return outcome;
  }

  #requireOperation(operation: Operation<W>): void {
    const isKnown = operation !== undefined && this.#operations.get(operation?.name) === operation;
    requireArgument(isKnown, 'fleet.call(operation)', 'one of the operations of the fleet', operation);
  }

  #tell(error: unknown, world?: string): void {
    try {
      this.options.onError?.({ world, error, retryAt: null });
    } catch {
      // a throwing `onError` must not bring the fleet down
    }
  }
}

const LEAVING: Outcome = { kind: 'again', reason: 'leaving' };

function closedError(): RepriseError {
  return new RepriseError('host_closed', 'this process has left the fleet', {
    hint: 'Make the call at another process, with the same id.',
  });
}
