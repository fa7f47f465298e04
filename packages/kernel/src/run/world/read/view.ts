/** A world as one principal may see and use it. */
import {
  type Address,
  type EffectDecision,
  formatAddress,
  type Principal,
  type Ref,
  RepriseError,
  type Settlement,
  type Value,
} from '@reprise/contracts';
import { linksOf } from '../../../pure/codec/index.js';
import type { CellOf, TableRange } from '../../../pure/define/index.js';
import type { Decider, DecisionOptions, RequestOptions, SettleAck, TracedOptions } from '../ask/asking.js';
import type { DecidedItem, PendingItem } from '../ask/open-items.js';
import type { World } from '../world.js';
import type { Ack } from '../write/acknowledgement.js';
import type { ReadableFrame } from './readable-frames.js';

/** The requests that a view makes to its world. */
export interface ViewParts {
  /** Rejects with `cap_denied` or `policy_denied`. */
  requireReader(cell: Address | CellOf): Promise<void>;
  /** Whether its principal may send an event to a cell. */
  maySend(to: Address, event: string): Promise<boolean>;
  /** The items that its principal may decide, answer or settle. */
  answerable(items: readonly PendingItem[]): Promise<readonly PendingItem[]>;
  /** Who decided about an item that its principal could have decided. */
  decidedBy(item: DecidedItem): Promise<Decider | undefined>;
  /** Frames as far as its principal may read them. */
  frames(from: number, signal: AbortSignal | undefined): AsyncGenerator<ReadableFrame>;
}

/** Options of a request through a view: the principal is fixed. */
type AskOptions = Omit<RequestOptions, 'as'>;

/** Options of an event to a cell through a view. */
type SentOptions = Omit<TracedOptions, 'as'>;

/** Options of a decision through a view. */
type ViewDecisionOptions = Omit<DecisionOptions, 'as'>;

/** A world as seen by one principal. Made by `world.as(principal)`; an operation that the gate refuses rejects. */
export class WorldView {
  constructor(
    private readonly world: World,
    /** The principal whose rights the view applies. */
    readonly principal: Principal,
    private readonly parts: ViewParts,
  ) {}

  /** Sends an event to a cell. See `World.request`. */
  request<S, R extends { readonly name: string; readonly value: unknown }>(
    to: CellOf<S, R>,
    event: NoInfer<R>,
    options?: SentOptions,
  ): Promise<Ack>;
  request(to: Address, event: { readonly name: string; readonly value: unknown }, options?: SentOptions): Promise<Ack>;
  request(
    to: Address | CellOf,
    event: { readonly name: string; readonly value: unknown },
    options: SentOptions = {},
  ): Promise<Ack> {
    return this.world.request(to as Address, event, { ...options, as: this.principal });
  }

  /**
   * Whether the gate lets the principal send an event of this name to a cell now, as its rights and the rules say. For what has
   * to be prepared before a request; the request is judged by itself, when it is folded.
   *
   * @throws RepriseError `invalid_argument`
   */
  maySend(to: Address, event: string): Promise<boolean> {
    return this.parts.maySend(to, event);
  }

  /** A cell's durable state; undefined when it does not exist. Rejects with `cap_denied`, `policy_denied`. */
  state<S>(cell: CellOf<S>): Promise<S | undefined>;
  state(address: Address): Promise<Value | undefined>;
  async state(cell: Address | CellOf): Promise<unknown> {
    await this.parts.requireReader(cell);
    return this.world.state(cell as Address);
  }

  /** The items of a cell's log. Rejects with `cap_denied`, `policy_denied`. */
  async *log(address: Address, name: string, from = 0): AsyncGenerator<Value> {
    await this.parts.requireReader(address);
    yield* this.world.log(address, name, from);
  }

  /** Entries of a cell's table. See `World.table`. Rejects with `cap_denied`, `policy_denied`. */
  async table(address: Address, name: string, range?: TableRange): Promise<[key: string, value: Value][]> {
    await this.parts.requireReader(address);
    return this.world.table(address, name, range);
  }

  /**
   * Reads content that a cell's state links or, with `log`, that an item of that log links. A link alone is no authority:
   * a principal that knows a digest but may not read a cell that links it cannot read the content.
   *
   * @returns undefined when the store does not hold it
   * @throws RepriseError `cap_denied`, `policy_denied`
   */
  async blob(ref: Ref, linkedBy: { readonly cell: Address; readonly log?: string }): Promise<Uint8Array | undefined> {
    await this.parts.requireReader(linkedBy.cell);
    if (await this.#links(ref, linkedBy)) return this.world.content.get(ref);
    throw new RepriseError(
      'cap_denied',
      `${this.principal} may not read this content through a cell that does not link it`,
      {
        where: formatAddress(linkedBy.cell),
        expected:
          linkedBy.log === undefined ? "a link in the cell's state" : `a link in the cell's log ${linkedBy.log}`,
        actual: ref.toString(),
        hint: 'Name a cell that this principal may read and whose state or log links the content.',
      },
    );
  }

  /**
   * Durable frames from `from` that this principal may read, in order, future ones included. See
   * `World.frames`.
   *
   * A record is included when the principal may read every cell it concerns, by the rights at the time when its frame is
   * handed out; of the state record, each leaf is judged by itself. A withheld record leaves null in its place and is
   * counted. A frame without any readable record is left out: its number is missing. Records of no cell are under `*`.
   */
  frames(from = 0, signal?: AbortSignal): AsyncGenerator<ReadableFrame> {
    return this.parts.frames(from, signal);
  }

  /** The pending items that this principal may decide, answer or settle. */
  async pending(): Promise<readonly PendingItem[]> {
    return this.parts.answerable(await this.world.pending());
  }

  /** Decides an approval. See `World.decide`. */
  decide(item: string | PendingItem, decision: EffectDecision, options: ViewDecisionOptions = {}): Promise<Ack> {
    return this.world.decide(item, decision, { ...options, as: this.principal });
  }

  /** Answers a question. See `World.answer`. */
  answer(item: string | PendingItem, answer: unknown, options: AskOptions = {}): Promise<Ack> {
    return this.world.answer(item, answer, { ...options, as: this.principal });
  }

  /** Settles an effect. See `World.settle`. */
  settle(effect: string, outcome: Settlement, options: ViewDecisionOptions = {}): Promise<SettleAck> {
    return this.world.settle(effect, outcome, { ...options, as: this.principal });
  }

  /** Who decided about an item; undefined also when this principal could not have decided. See `World.decidedBy`. */
  decidedBy(item: DecidedItem): Promise<Decider | undefined> {
    return this.parts.decidedBy(item);
  }

  async #links(ref: Ref, { cell, log }: { readonly cell: Address; readonly log?: string }): Promise<boolean> {
    const links = (value: Value) => linksOf(value).some(({ hex }) => hex === ref.hex);
    if (log === undefined) {
      const state = await this.world.state(cell);
      return state !== undefined && links(state);
    }
    for await (const item of this.world.log(cell, log)) if (links(item)) return true;
    return false;
  }
}
