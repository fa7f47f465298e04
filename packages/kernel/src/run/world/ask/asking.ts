/**
 * Requests to an open world. Each is admitted once, becomes an ingress, and is answered when that is durable. The
 * promises of the methods are documented at those of the world.
 */
import {
  type Address,
  type CommandName,
  type EffectDecision,
  isRef,
  isTextWithin,
  type JournalRecord,
  type Principal,
  RepriseError,
  requireKnownOptions,
  type Settlement,
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

/** Options of a request. */
export interface RequestOptions {
  /** The idempotency key. A repetition with the same content changes nothing; a fresh random one when absent. */
  readonly id?: string;
  /** The principal; `operator` when absent. */
  readonly as?: Principal;
}

/** Options of an erasure. */
export interface EraseOptions extends RequestOptions {
  /** The reason, for a later reader of the journal: up to 256 characters, without personal data. It cannot be erased. */
  readonly reason?: string;
}

/** The result of settling an effect from outside. */
export interface SettleAck extends Ack {
  readonly status: 'applied' | 'already_settled';
}

/** The result of an erasure: where its tombstone stands, and what it names. */
export type EraseReport = Ack & Omit<ErasureOutcome, 'seq' | 'duplicate'>;

/** The collaborators of asking. */
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
    options: RequestOptions,
  ): Promise<Ack> {
    const { name, value } = readArgument('an event', () => {
      requireRequest(event, options);
      return { name: event.name, value: event.value };
    });
    const admitted = await admitRequest(this.parts.app, this.#links, { to, name, value, ...this.#whoAsks(options) });
    const outcome = await this.#submit((stamps) => ({
      kind: 'request',
      ...stamps,
      principal: admitted.principal,
      id: admitted.id,
      to: admitted.to,
      event: { name: admitted.name, value: admitted.value },
    }));
    return this.#ackOf(outcome);
  }

  /** Applies a session command. */
  async command(name: CommandName, value: unknown, options: RequestOptions): Promise<Ack> {
    return this.#ackOf(await this.#submitCommand(name, value, options));
  }

  /** Decides an approval. */
  async decide(item: string | PendingItem, decision: EffectDecision, options: RequestOptions): Promise<Ack> {
    const { id, digest } = readItem(item);
    const seen = digest === undefined ? {} : { digest };
    return this.command('sys/Decide@1', { effect: id, ...seen, decision }, options);
  }

  /** Answers a question of a running effect. */
  async answer(item: string | PendingItem, answer: unknown, options: RequestOptions): Promise<Ack> {
    const { id } = readItem(item);
    const question = questionOf(id);
    if (question === undefined) {
      throw new RepriseError('invalid_argument', 'invalid question id', {
        expected: 'the id of a pending item of kind question',
        actual: id,
      });
    }
    return this.command('sys/Answer@1', { ...question, answer: answer as Value }, options);
  }

  /** Settles a deferred effect. */
  async settle(effect: string, outcome: Settlement, options: RequestOptions): Promise<SettleAck> {
    // The same outcome has the same id, so a repetition is one request.
    const said = readArgument('an outcome', () => encode([effect, outcome]));
    const who = readOptions(options);
    const id = who.id ?? `settle ${toHex(this.#hash(said))}`;
    const done = await this.#submitCommand('sys/Settle@1', { effect, outcome }, { ...who, id });
    const ack = await this.#ackOf(done);
    const records = done.status === 'committed' ? done.frame.records : await this.#recordsOf(ack.seq);
    const late = records.some((record) => record.kind === 'late' && record.c === 0);
    return { ...ack, status: late ? 'already_settled' : 'applied' };
  }

  /** Cancels an effect. */
  async cancel(effect: string, options: RequestOptions & { readonly graceMs?: number }): Promise<Ack> {
    const who = readOptions(options, CANCEL_OPTIONS);
    const graceMs = readArgument('the options', () => options.graceMs);
    return this.command('sys/Cancel@1', graceMs === undefined ? { effect } : { effect, graceMs }, who);
  }

  /** Erases content for good. */
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

  #whoAsks(options: RequestOptions): { readonly id: string; readonly principal: Principal } {
    const { id, as } = readOptions(options);
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

const REQUEST_OPTIONS = { id: true, as: true } as const;
const CANCEL_OPTIONS = { ...REQUEST_OPTIONS, graceMs: true } as const;
const ERASE_OPTIONS = { ...REQUEST_OPTIONS, reason: true } as const;

/** The id and the principal of a request; an option with another name is refused. */
function readOptions(options: RequestOptions, known: Readonly<Record<string, true>> = REQUEST_OPTIONS): RequestOptions {
  return readArgument('the options', () => {
    requireObject(options, 'the options');
    requireKnownOptions(options, known, 'a request');
    const { id, as } = options;
    return { ...(id == null ? {} : { id }), ...(as == null ? {} : { as }) };
  });
}

/** A pending item, or its id. The command decides whether the id names anything. */
function readItem(item: string | PendingItem): { readonly id: string; readonly digest?: string | undefined } {
  return readArgument('a pending item', () => {
    const { id, digest } = typeof item === 'string' ? { id: item, digest: undefined } : item;
    if (typeof id === 'string') return { id, digest };
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
