/**
 * Requests to an open world. Each is admitted once, becomes an ingress, and is answered when that is durable. The
 * promises of the methods are documented at those of the world.
 */
import {
  type Actor,
  type Address,
  actor as actorSchema,
  type CommandName,
  type EffectDecision,
  isRef,
  isTextWithin,
  type JournalRecord,
  type Principal,
  present,
  type Ref,
  RepriseError,
  requireKnownOptions,
  type Settlement,
  traceParent,
  type Value,
} from '@reprise/contracts';
import { LinkCheck } from '../../../ports/content/links.js';
import { readFrame } from '../../../ports/journal/frame.js';
import { requireAddress, requireObject } from '../../../pure/arguments/arguments.js';
import { encode, type Hash, portableSha256, toHex } from '../../../pure/codec/index.js';
import type { EraseTarget, ErasureOutcome } from '../life/erasure.js';
import { drawHex } from '../open/options.js';
import type { WorldParts } from '../parts.js';
import { type Ack, ackOf, headAfter } from '../write/acknowledgement.js';
import type { IngressOutcome, QueuedIngress } from '../write/ingress.js';
import { readArgument } from './argument.js';
import { type PendingItem, questionOf } from './open-items.js';
import { admitCommand, admitRequest, requireAsking } from './requests.js';

/** Under which id, principal and actor a request is recorded. */
export interface RequestOptions {
  /** The idempotency key. A repetition with the same content changes nothing; a fresh random one when absent. */
  readonly id?: string;
  /** The principal; `operator` when absent. */
  readonly as?: Principal;
  /**
   * Who acts; what follows from the principal when absent. The rights that count are the principal's. At most 1,024
   * canonical bytes. A person can state no other person.
   */
  readonly actor?: Actor;
}

/** What is recorded with a request besides. */
export interface TracedOptions extends RequestOptions {
  /**
   * The `traceparent` of W3C Trace Context with which it came: traces of the world link to that span. It changes nothing else,
   * and a repetition may have another one.
   */
  readonly traceparent?: string;
}

/** As whom a decision is made, and why. */
export interface DecisionOptions extends RequestOptions {
  /** The link to the reason, as text. It belongs to the decision: a decision that comes too late leaves none. */
  readonly reason_ref?: Ref;
}

/** Who decided about an item. */
export interface Decider {
  /** The principal whose rights counted. */
  readonly by: Principal;
  /** Who acted for that principal. */
  readonly actor: Actor;
}

/** As whom content is erased, and why. */
export interface EraseOptions extends RequestOptions {
  /** The reason, for a later reader of the journal: up to 256 characters, without personal data. It cannot be erased. */
  readonly reason?: string;
}

/** The result of settling an effect from outside; of one that was settled before, also who decided. */
export interface SettleAck extends Ack, Partial<Decider> {
  readonly status: 'applied' | 'already_settled';
}

/** The result of an erasure: where its tombstone stands, and what it names. */
export type EraseReport = Ack & Omit<ErasureOutcome, 'seq' | 'duplicate'>;

type AskingParts = Pick<WorldParts, 'app' | 'store' | 'stepper' | 'eraser' | 'random'>;

/** Submits requests to an open world. */
export class Asking {
  readonly #links: LinkCheck;

  constructor(private readonly parts: AskingParts) {
    this.#links = new LinkCheck(parts.store.content);
  }

  /** Sends an event to a cell. */
  async request(
    to: Address,
    event: { readonly name: string; readonly value: unknown },
    options: TracedOptions,
  ): Promise<Ack> {
    const { name, value } = readArgument('an event', () => {
      requireRequest(event, options);
      return { name: event.name, value: event.value };
    });
    const admitted = await admitRequest(this.parts.app, this.#links, {
      to,
      name,
      value,
      ...this.#whoAsks(options, TRACED_OPTIONS),
    });
    const said = { ...actorIn(options), ...traceIn(options) };
    const outcome = await this.#submit((stamps) => ({
      kind: 'request',
      ...stamps,
      principal: admitted.principal,
      id: admitted.id,
      to: admitted.to,
      event: { name: admitted.name, value: admitted.value },
      ...said,
    }));
    return this.#ackOf(outcome);
  }

  async command(name: CommandName, value: unknown, options: RequestOptions): Promise<Ack> {
    return this.#ackOf(await this.#submitCommand(name, value, readOptions(options, COMMAND_OPTIONS)));
  }

  async decide(item: string | PendingItem, decision: EffectDecision, options: DecisionOptions): Promise<Ack> {
    const { id, digest } = readItem(item);
    const seen = digest === undefined ? {} : { digest };
    const { who, said } = whoDecides(options);
    return this.command('sys/Decide@1', { effect: id, ...seen, decision, ...said }, who);
  }

  /** Answers a question of a running effect. */
  async answer(item: string | PendingItem, answer: unknown, options: RequestOptions): Promise<Ack> {
    const question = requireQuestion(readItem(item).id);
    const { who, said } = whoDecides(options, REQUEST_OPTIONS);
    return this.command('sys/Answer@1', { ...question, answer: answer as Value, ...said }, who);
  }

  async settle(
    effect: string,
    outcome: Settlement,
    options: DecisionOptions,
  ): Promise<Ack & { readonly status: SettleAck['status'] }> {
    const { who, said } = whoDecides(options);
    const value = { effect, outcome, ...said };
    // The same outcome of the same actor has the same id, so a repetition is one request.
    const id = who.id ?? `settle ${toHex(this.#hash(readArgument('an outcome', () => encode(value))))}`;
    const done = await this.#submitCommand('sys/Settle@1', value, { ...who, id });
    const ack = await this.#ackOf(done);
    const records = done.status === 'committed' ? done.frame.records : await this.#recordsOf(ack.seq);
    const late = records.some((record) => record.kind === 'late' && record.c === 0);
    return { ...ack, status: late ? 'already_settled' : 'applied' };
  }

  async cancel(effect: string, options: RequestOptions & { readonly graceMs?: number }): Promise<Ack> {
    const { who, said } = whoDecides(options, CANCEL_OPTIONS);
    const graceMs = readArgument('the options', () => options.graceMs);
    return this.command('sys/Cancel@1', { effect, ...(graceMs === undefined ? {} : { graceMs }), ...said }, who);
  }

  async erase(target: EraseTarget, options: EraseOptions): Promise<EraseReport> {
    requireErasure(target, options);
    const asking = this.#whoAsks(readOptions(options, ERASE_OPTIONS));
    requireAsking(asking.id, asking.principal);
    const { reason } = options;
    const outcome = await this.parts.eraser.erase(target, { ...asking, ...(reason === undefined ? {} : { reason }) });
    return { ...outcome, head: await headAfter(this.parts.store.journal, outcome.seq) };
  }

  async #submitCommand(name: CommandName, value: unknown, options: RequestOptions): Promise<IngressOutcome> {
    const admitted = await admitCommand(this.parts.app, this.#links, { name, value, ...this.#whoAsks(options) });
    return this.#submit((stamps) => ({ kind: 'command', ...stamps, ...admitted }));
  }

  #whoAsks(
    options: RequestOptions,
    known: Readonly<Record<string, true>> = REQUEST_OPTIONS,
  ): { readonly id: string; readonly principal: Principal } {
    const { id, as } = readOptions(options, known);
    return { id: id ?? drawHex(this.parts.random, 16), principal: as ?? 'operator' };
  }

  #submit(make: QueuedIngress['make']): Promise<IngressOutcome> {
    return new Promise((settle) => this.parts.stepper.submit({ own: false, settle, make }));
  }

  #ackOf(outcome: IngressOutcome): Promise<Ack> {
    return ackOf(this.parts.store.journal, outcome);
  }

  async #recordsOf(seq: number): Promise<readonly JournalRecord[]> {
    for await (const stored of this.parts.store.journal.read(seq, seq)) return readFrame(stored.bytes, seq).all;
    return [];
  }

  get #hash(): Hash {
    return this.parts.store.hash ?? portableSha256;
  }
}

/** Options without an actor: a command states its actor in its value, and an erasure none. */
const COMMAND_OPTIONS = { id: true, as: true } as const;
const REQUEST_OPTIONS = { ...COMMAND_OPTIONS, actor: true } as const;
const TRACED_OPTIONS = { ...REQUEST_OPTIONS, traceparent: true } as const;
const CANCEL_OPTIONS = { ...REQUEST_OPTIONS, graceMs: true } as const;
const DECIDE_OPTIONS = { ...REQUEST_OPTIONS, reason_ref: true } as const;
const ERASE_OPTIONS = { ...COMMAND_OPTIONS, reason: true } as const;

/** The principal and the id of a decision, and what its command says beside the decision. */
function whoDecides(options: DecisionOptions, known: Readonly<Record<string, true>> = DECIDE_OPTIONS) {
  const who = readOptions(options, known);
  return {
    who,
    said: readArgument('the options', () => present({ actor: options.actor, reason_ref: options.reason_ref })),
  };
}

/** The actor of a request, checked where it enters. */
function actorIn(options: RequestOptions): { readonly actor?: Actor } {
  const given: unknown = readArgument('the options', () => options.actor);
  if (given === undefined) return {};
  const { success, data } = actorSchema.safeParse(given);
  if (success) {
    readArgument('the option "actor"', () => encode(data as Value)); // a text that is not well-formed has no canonical form
    return { actor: data };
  }
  throw new RepriseError('invalid_argument', 'invalid option "actor"', {
    where: 'actor',
    expected: "{ kind: 'person' | 'rule' | 'program' | 'node' | 'several', … }",
    actual: given,
  });
}

/** The span behind which a request comes, checked where it enters. */
function traceIn(options: TracedOptions): { readonly traceparent?: string } {
  const given: unknown = readArgument('the options', () => options.traceparent);
  if (given === undefined) return {};
  const { success, data: traceparent } = traceParent.safeParse(given);
  if (success) return { traceparent };
  throw new RepriseError('invalid_argument', 'invalid option "traceparent"', {
    where: 'traceparent',
    expected: 'a traceparent of W3C Trace Context: 00-TRACE-SPAN-FLAGS',
    actual: given,
  });
}

/** The id and the principal of a request; an option with another name is refused. */
function readOptions(options: RequestOptions, known: Readonly<Record<string, true>> = REQUEST_OPTIONS): RequestOptions {
  return readArgument('the options', () => {
    requireObject(options, 'the options');
    requireKnownOptions(options, known, 'a request');
    const { id, as } = options;
    return { ...(id == null ? {} : { id }), ...(as == null ? {} : { as }) };
  });
}

/** The question that an item names. */
function requireQuestion(id: string): { readonly effect: string; readonly n: number } {
  const question = questionOf(id);
  if (question !== undefined) return question;
  throw new RepriseError('invalid_argument', 'invalid question id', {
    expected: 'the id of a pending item of kind question',
    actual: id,
  });
}

/** A pending item, or its id. The command decides whether the id names anything. */
export function readItem(item: string | Pick<PendingItem, 'id' | 'kind' | 'digest'>): {
  readonly id: string;
  readonly kind?: PendingItem['kind'] | undefined;
  readonly digest?: string | undefined;
} {
  return readArgument('a pending item', () => {
    const { id, kind, digest }: Partial<PendingItem> = typeof item === 'string' ? { id: item } : item;
    if (typeof id === 'string') return { id, kind, digest };
    throw new RepriseError('invalid_argument', 'invalid pending item', {
      expected: 'an item of world.pending(), or its id',
      actual: item,
    });
  });
}

/** Refuses a malformed event or malformed options before their parts are read. */
function requireRequest(event: unknown, options: unknown): void {
  if (typeof event !== 'object' || event === null || !('name' in event) || typeof event.name !== 'string') {
    throw new RepriseError('invalid_argument', 'invalid event', { expected: '{name, value}', actual: event });
  }
  if (typeof options === 'object' && options !== null) return;
  throw new RepriseError('invalid_argument', 'invalid options', { expected: '{id?, as?}', actual: options });
}

/** Refuses an invalid erasure target, and a reason that could not be journaled. */
function requireErasure(target: EraseTarget, options: EraseOptions): void {
  requireObject(target, 'the erasure target');
  requireObject(options, 'the options');
  const { reason } = options;
  if (reason !== undefined && (typeof reason !== 'string' || !isTextWithin(reason, 256))) {
    throw new RepriseError('invalid_argument', 'invalid option "reason"', {
      expected: 'up to 256 characters',
      actual: reason,
    });
  }
  if (reason !== undefined) encode(reason); // refuses malformed text
  if ('refs' in target) {
    if (Array.isArray(target.refs) && target.refs.every(isRef)) return;
    throw new RepriseError('invalid_argument', 'invalid erasure target', {
      where: 'refs',
      actual: target.refs,
    });
  }
  requireAddress(target.cell);
  requirePassing(target.passedBy);
  if (target.subtree === undefined || typeof target.subtree === 'boolean') return;
  throw new RepriseError('invalid_argument', 'invalid option "subtree"', {
    where: 'subtree',
    expected: 'true or false',
    actual: target.subtree,
  });
}

function requirePassing(passedBy: unknown): void {
  if (passedBy === undefined) return;
  if (!Array.isArray(passedBy)) {
    throw new RepriseError('invalid_argument', 'invalid option "passedBy"', {
      where: 'passedBy',
      expected: 'a list of addresses',
      actual: passedBy,
    });
  }
  for (const cell of passedBy) requireAddress(cell);
}
