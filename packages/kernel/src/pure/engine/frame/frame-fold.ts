/**
 * Folds one ingress record into one frame.
 *
 * Owns: the frame's records, its FIFO of deliveries, its bounds. Does not own: the effect of a delivery
 * (`deliver-event.ts`, `advance-plan.ts`), the source of leaves, the durability of a frame.
 *
 * Invariants
 * F1  Pure: the same leaves and ingress give the same records, changes and blobs. An abandoned fold leaves nothing.
 * F2  One FIFO per frame. A delivery is a savepoint: it takes place whole, or a fault is recorded instead.
 * F3  A leaf is a value that is never written into, equal to what its bytes decode to; the maps in it whose keys are
 *     data have their keys in canonical order, so that code that walks them cannot tell a kept leaf from a loaded one.
 * F4  Bounds are counted in deliveries and value bytes, which depend on the frame alone. Sweeps run beyond
 *     the cascade's bound too: they add nothing, and their nodes would never be found again.
 * F5  The deliveries that an ingress itself queues are roots: each begins a cascade with its own bounds, after the one
 *     before it has ended, as in a frame of its own. Deliveries queued by a delivery belong to its cascade. So
 *     a right that ends ten thousand effects is not mistaken for a runaway, and a real runaway is still found.
 * F6  Open effects that narrowed rights forbid end before anything else is delivered, some thousands in a frame.
 */
import {
  type Address,
  type DerivedRecord,
  type EventEnvelope,
  type FaultCode,
  type IngressRecord,
  type PlanAddress,
  type Receipt,
  raiseExhaustion,
  type Sender,
} from '@reprise/contracts';
import { type Hash, type NormalValue, normalValue } from '../../codec/index.js';
import type { App } from '../../define/index.js';
import { fittedForm } from '../../schema/fitted-form.js';
import type { SchemaNode } from '../../schema/index.js';
import {
  CASCADE_DELIVERIES_MAX,
  CASCADE_VALUE_BYTES_MAX,
  CASCADE_WAITING_BYTES_MAX,
  CASCADE_WAITING_MAX,
  FRAME_DELIVERIES_MAX,
  FRAME_VALUE_BYTES_MAX,
  VALUE_BYTES_MAX,
} from '../leaf/bounds.js';
import { damagedLeaves } from '../leaf/damage.js';
import { cellKey, type LeafKey, PENDING_KEY, WORLD_KEY } from '../leaf/leaf-key.js';
import type {
  EffectLeaf,
  EmissionPlace,
  LeafReader,
  PendingLeaf,
  PlanLeaf,
  TableRest,
  WorldLeaf,
} from '../leaf/leaves.js';
import { Overlay } from '../leaf/leaves.js';
import type { StagedBlob } from '../leaf/log.js';
import { Fault, Miss } from '../leaf/signals.js';
import type { LivePlan } from '../plan/live-plan.js';
import { Backlog } from './backlog.js';

/** An effect that the gate allowed, by id and kind. */
export interface EmittedEffect {
  readonly effect: string;
  readonly name: string;
}

/** An effect that was settled, as it stood before, and its receipt. */
export interface SettledEffect {
  readonly effect: string;
  readonly leaf: EffectLeaf;
  readonly receipt: Receipt;
}

/** A delivery that broke a rule, with the error thrown: for watchers of this process, not part of the frame. */
export interface FaultedDelivery {
  readonly target: Address | PlanAddress;
  /** The event, or the plan. */
  readonly name: string;
  readonly code: FaultCode;
  readonly detail: string;
  readonly cause?: unknown;
}

/** Running generators, by the leaf of their plan: a plan that is not among them is rebuilt from its leaf. */
export type RunningPlans = WeakMap<PlanLeaf, LivePlan>;

/** The environment that all folds of a world share. */
export interface EngineEnv {
  readonly app: App;
  readonly hash: Hash;
  /** Makes a fold faster and never changes its result; absent where every plan is rebuilt to check it. */
  readonly plans?: RunningPlans;
}

/** An event on its way to a cell. */
export interface EventDelivery {
  readonly kind: 'event';
  readonly to: Address;
  readonly event: EventEnvelope;
  readonly from: Sender;
  readonly cause: number;
  /** Whether the sender wants the outcome as `sys/Reply@1`. */
  readonly reply: boolean;
  /** The sender wants it only when the event does not take place. */
  readonly quiet?: true;
  /** The sender's name for the event, which the reply repeats. */
  readonly tag?: string;
  /** The name under which the sender hears when the receiver fails or ends later. */
  readonly failure?: string;
  /** The bytes of its value, for the bound of what waits; absent for what the kernel itself or the outside sends. */
  readonly bytes?: number;
  /** A kernel notice: a fault while handling one makes no further notice. */
  readonly notice: boolean;
  /** The delivery of an outside request itself: its failure refuses the request. */
  readonly root: boolean;
  /** It passed the gate because the cell was absent: a sender after the maker is judged again. */
  readonly making?: true;
  /** It reports a cell that failed because its cascade was too long: its own cascade makes no such report. */
  readonly aftermath?: true;
}

/** A plan instance that can start or go on. */
export interface PlanDelivery {
  readonly kind: 'plan';
  readonly plan: PlanAddress;
  readonly cause: number;
  /** The bytes of the input of an intent, for the bound of what waits. */
  readonly bytes?: number;
}

/** The nodes of a table whose cell has ended are removed, some at a time. */
export interface SweepDelivery extends TableRest {
  readonly kind: 'sweep';
}

/** One step of a frame. */
export type QueuedDelivery = EventDelivery | PlanDelivery | SweepDelivery;

/** Executes each kind of delivery; injected, so that this file depends on none. */
export interface Deliverer {
  event(fold: FrameFold, delivery: EventDelivery): void;
  plan(fold: FrameFold, delivery: PlanDelivery): void;
  sweep(fold: FrameFold, delivery: SweepDelivery): void;
  /** Replaces a delivery that the cascade's bound cut off. */
  exceeded(fold: FrameFold, delivery: EventDelivery | PlanDelivery): void;
}

/** What a reducer or plan gave in one delivery. */
interface Output {
  readonly outputs: readonly unknown[];
  /** The sum of the encoded sizes of all values in the outputs, in bytes. */
  readonly valueBytes: number;
  /** Bytes of those that wait: events and the inputs of intents. */
  readonly waitingBytes: number;
}

/** What the cascade under way has spent. */
interface Spent {
  done: number;
  bytes: number;
  readonly aftermath?: true;
}

/** A frame while it is being folded. */
export class FrameFold {
  readonly records: DerivedRecord[] = [];
  readonly overlay: Overlay;
  readonly staged: StagedBlob[] = [];
  /** Effects that the gate allowed in this frame, in order. */
  readonly emitted: EmittedEffect[] = [];
  /** Running effects that should stop. */
  readonly aborts: string[] = [];
  /** Effects that were settled in this frame, in order. */
  readonly settled: SettledEffect[] = [];
  /** Deliveries that became faults, in order. */
  readonly faulted: FaultedDelivery[] = [];
  /** The world's identity and policy. A manifest frame sets it before anything is delivered. */
  world: WorldLeaf | undefined;
  /** The place after which open effects must still be checked against narrowed rights (F6); undefined when all were. */
  ending: EmissionPlace | undefined;
  /** How many open effects were checked again in this frame. */
  judged = 0;
  /** The frame of the ingress: this one, or the one that it continues. */
  began: number;
  #cascade: Backlog;
  #roots: Backlog;
  /** What the cascade under way has spent, in frames before as well. */
  #spent: Spent = { done: 0, bytes: 0 };
  #frameBytes = 0;
  #admitted: boolean;

  constructor(
    readonly env: EngineEnv,
    base: LeafReader,
    readonly ingress: IngressRecord,
  ) {
    this.overlay = new Overlay(base);
    this.began = ingress.seq;
    this.#cascade = new Backlog(this.overlay, 'cascade');
    this.#roots = new Backlog(this.overlay, 'roots');
    this.#admitted = ingress.kind === 'continue'; // F5: it brings nothing of its own
  }

  /** Continues where the frame before stopped. */
  resume({ began, done, bytes, aftermath, cascade, roots }: PendingLeaf): void {
    this.began = began;
    this.#spent = { done, bytes, ...(aftermath === undefined ? {} : { aftermath }) };
    this.#cascade = new Backlog(this.overlay, 'cascade', cascade);
    this.#roots = new Backlog(this.overlay, 'roots', roots);
  }

  /** Takes out the work that a frame cannot do: the current cascade, and as many roots as one frame would begin. */
  abandon(): readonly QueuedDelivery[] {
    const abandoned: QueuedDelivery[] = [];
    while (this.#cascade.peek() !== undefined) abandoned.push(this.#cascade.shift() as QueuedDelivery);
    for (let n = 0; n < FRAME_DELIVERIES_MAX && this.#roots.peek() !== undefined; n++) {
      abandoned.push(this.#roots.shift() as QueuedDelivery);
    }
    return abandoned;
  }

  get at(): number {
    return this.ingress.at;
  }

  /** The rules and identity of the world; every frame but genesis has them. */
  get rules(): WorldLeaf {
    if (this.world === undefined) throw damagedLeaves('the leaf of the world is missing', 'leaf world');
    return this.world;
  }

  /** From now on every effect and event is checked against rights: some were set. */
  govern(): void {
    if (this.rules.governed === true) return;
    this.world = { ...this.rules, governed: true };
    this.overlay.set(WORLD_KEY, this.world);
  }

  /** Whether the current cascade began by reporting a cell that failed by the length of an earlier cascade. */
  get isAftermath(): boolean {
    return this.#spent.aftermath === true;
  }

  /** Adds a derived record. @returns its index in the frame */
  push(record: DerivedRecord): number {
    this.records.push(record);
    return this.records.length;
  }

  /** Adds a delivery to the current cascade; one queued by the ingress itself begins a new one (F5). */
  enqueue(delivery: QueuedDelivery): void {
    if (this.#admitted) this.#cascade.push(delivery);
    else this.#roots.push(delivery);
  }

  /** Adds a delivery that begins a cascade of its own, whatever queues it. Callers must bound their number (F5). */
  enqueueApart(delivery: QueuedDelivery): void {
    this.#roots.push(delivery);
  }

  /** Counts the value bytes of a delivery, for the bounds of frame and cascade. */
  spend(valueBytes: number): void {
    this.#frameBytes += valueBytes;
    this.#spent.bytes += valueBytes;
  }

  /** Counts bytes that the kernel itself writes for a delivery, for the bound of the frame. */
  weigh(bytes: number): void {
    this.#frameBytes += bytes;
  }

  /**
   * Checks that the cascade has room for the output of a delivery. Too much is that delivery's fault: otherwise deliveries
   * that each stay within their bounds could together queue more than memory can hold, or write without end.
   */
  afford({ outputs, valueBytes, waitingBytes }: Output): void {
    const isRoom =
      this.#cascade.length + outputs.length <= CASCADE_WAITING_MAX &&
      this.#cascade.bytes + waitingBytes <= CASCADE_WAITING_BYTES_MAX &&
      this.#spent.bytes + valueBytes <= CASCADE_VALUE_BYTES_MAX;
    if (isRoom) return;
    throw new Fault(
      'cascade_exceeded',
      `a cascade has at most ${CASCADE_WAITING_MAX} deliveries and ${CASCADE_WAITING_BYTES_MAX} bytes of them ` +
        `waiting, and ${CASCADE_VALUE_BYTES_MAX} bytes of values in all`,
    );
  }

  /**
   * Runs one cascade after the other to its end, or to the frame's bound; then the rest waits for a `continue` frame.
   * A quarantined frame runs none of it: its notices get a frame of their own.
   */
  run(deliver: Deliverer): void {
    this.#admitted = true;
    const halted = 'quarantined' in this.ingress;
    for (let done = 0; ; done++) {
      if (this.ending !== undefined) return this.#spill(); // F6
      const from = this.#due();
      const next = from?.peek();
      if (from === undefined || next === undefined) return;
      const exceeded = this.#spent.done >= CASCADE_DELIVERIES_MAX && next.kind !== 'sweep';
      const full = done >= FRAME_DELIVERIES_MAX || this.#frameBytes > FRAME_VALUE_BYTES_MAX;
      if (halted || (full && !exceeded)) return this.#spill();
      from.shift();
      if (exceeded) deliver.exceeded(this, next as EventDelivery | PlanDelivery);
      else this.#deliver(deliver, next);
      this.#spent.done++;
    }
  }

  /** The source of the next delivery: the current cascade or, when it has ended, the roots. */
  #due(): Backlog | undefined {
    if (this.#cascade.length > 0) return this.#cascade;
    if (this.#roots.length === 0) return undefined;
    const first = this.#roots.peek();
    this.#spent = { done: 0, bytes: 0, ...(first?.kind === 'event' && first.aftermath ? { aftermath: true } : {}) };
    return this.#roots;
  }

  #deliver(deliver: Deliverer, next: QueuedDelivery): void {
    try {
      if (next.kind === 'event') deliver.event(this, next);
      else if (next.kind === 'plan') deliver.plan(this, next);
      else deliver.sweep(this, next);
    } catch (thrown) {
      if (!(thrown instanceof Miss)) throw thrown;
      const ahead = [...this.#cascade.upcoming(), ...this.#roots.upcoming()].slice(0, FRAME_DELIVERIES_MAX);
      throw new Miss(thrown.key, [...thrown.next, ...ahead.flatMap(neededBy)]);
    }
  }

  #spill(): void {
    const pending: PendingLeaf = {
      began: this.began,
      ...this.#spent,
      cascade: this.#cascade.keep(),
      roots: this.#roots.keep(),
      ...(this.ending === undefined ? {} : { ending: this.ending }),
    };
    this.overlay.set(PENDING_KEY, pending);
  }
}

/** The cell that a delivery will want: all that wait are loaded with the first that is missing. */
function neededBy(delivery: QueuedDelivery): LeafKey[] {
  if (delivery.kind === 'event') return [cellKey(delivery.to)];
  return delivery.kind === 'plan' ? [cellKey([delivery.plan[0], delivery.plan[1]])] : [];
}

/**
 * The copy of an author's value that fits its schema as it is, in normal form.
 *
 * @returns undefined for anything else: {@link normalGiven} and the schema decide about it
 */
export function fittedGiven(node: SchemaNode, given: unknown): NormalValue | undefined {
  return fittedForm(node, given, VALUE_BYTES_MAX);
}

/** Copies an author's value into normal form; one that is not canonical or too large is the author's fault. */
export function normalGiven(given: unknown): NormalValue {
  let normal: NormalValue;
  try {
    normal = normalValue(given);
  } catch (error) {
    raiseExhaustion(error);
    throw new Fault('value_invalid', error instanceof Error ? error.message : 'not a canonical value', error);
  }
  if (normal.bytes > VALUE_BYTES_MAX) {
    throw new Fault('record_too_large', `a value of ${normal.bytes} bytes; at most ${VALUE_BYTES_MAX} fit`);
  }
  return normal;
}
