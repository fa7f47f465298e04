/**
 * A plan's generator while it is cached, and the context it uses.
 *
 * Invariants
 * L1  A generator's behavior depends only on its input, on the results of its awaits and on the time of each
 *     segment. So it can be dropped at any moment and rebuilt from the plan's leaf.
 * L2  A rebuilt segment refuses what it refused when it was live: a plan may catch the refusal and go another way.
 */
import { type Address, isWhole, type PlanAddress, pattern, type Receipt, type Value } from '@reprise/contracts';
import { copyValue } from '../../codec/index.js';
import type {
  App,
  AwaitOptions,
  EffectDefinition,
  EffectHandle,
  EmitOptions,
  PlanBody,
  PlanContext,
  PlanDefinition,
  PlanWait,
  ReceiptOf,
  Resumed,
} from '../../define/index.js';
import { check, type SchemaNode } from '../../schema/index.js';
import { eventNode, unknownEvent } from '../cell/event-node.js';
import { runPure } from '../cell/purity.js';
import { fittedGiven, normalGiven } from '../frame/frame-fold.js';
import { CANCEL_GRACE_MS, VALUE_BYTES_EXTRA } from '../leaf/bounds.js';
import { isAddress } from '../leaf/leaf-key.js';
import type { PlanLeaf } from '../leaf/leaves.js';
import { Fault } from '../leaf/signals.js';

/** The requests of a segment, in order; they take place when the segment ends well. */
export type PlanOutput =
  | {
      readonly type: 'effect';
      readonly emission: number;
      readonly definition: EffectDefinition;
      readonly params: Value;
      /** They fit their schema as they are. */
      readonly fits: boolean;
      readonly timeoutMs: number | null;
      readonly approval: { readonly to?: string } | undefined;
    }
  | { readonly type: 'raise'; readonly name: string; readonly value: Value; readonly bytes: number }
  | { readonly type: 'cancel'; readonly emission: number; readonly graceMs: number };

/** The collected requests of one segment of a plan, from one await to the next. */
export class Segment {
  readonly outputs: PlanOutput[] = [];
  continuation: { readonly input: Value } | undefined;
  valueBytes = 0;
  /** Bytes of the values that wait: raised events. */
  waitingBytes = 0;

  constructor(
    readonly at: number,
    /** A rebuilt segment happened before: its requests took place then. */
    readonly rebuilt: boolean,
  ) {}
}

/** A running plan: its generator, and the context that records what it emits. */
export class LivePlan {
  readonly #context: RunningPlan;
  readonly #body: PlanBody;

  constructor(
    private readonly definition: PlanDefinition,
    app: App,
    plan: PlanAddress,
    input: Value,
  ) {
    this.#context = new RunningPlan(definition, app, Object.freeze([plan[0], plan[1]]) as Address);
    this.#body = runPure(() => definition.run(copyValue(input), this.#context));
  }

  get emissions(): number {
    return this.#context.emissions;
  }

  /** Receipts that earlier awaits returned, by emission, in order. */
  get seen(): ReadonlyMap<number, Receipt> {
    return this.#context.seen;
  }

  /** Runs to the next await or the end. @returns the wait, or undefined at the end */
  advance(segment: Segment, resumed: Resumed | undefined): PlanWait | undefined {
    this.#context.segment = segment;
    if (resumed !== undefined && 'receipts' in resumed) {
      for (const [emission, receipt] of resumed.receipts) this.#context.seen.set(emission, receipt);
    }
    const given = resumed === undefined ? undefined : (copyValue(resumed as unknown as Value) as Resumed);
    const step = runPure(() => (given === undefined ? this.#body.next(undefined as never) : this.#body.next(given)));
    if (step.done === true) return undefined;
    return asWait(step.value, this.emissions);
  }

  /** Brings a fresh plan to the state of its leaf. */
  catchUp(leaf: PlanLeaf): void {
    if (leaf.started === null) return;
    this.advance(new Segment(leaf.started, true), undefined);
    for (const { at, value } of leaf.resumptions) this.advance(new Segment(at, true), value);
    if (this.emissions !== leaf.emissions) {
      throw new Fault(
        'nondeterminism',
        `${this.definition.name} emitted ${this.emissions} effects, its journal says ${leaf.emissions}`,
      );
    }
  }
}

/** A yielded wait, checked and copied: a plan's body is authors' code and could yield anything. */
function asWait(yielded: unknown, emissions: number): PlanWait {
  const wait = yielded as Partial<PlanWait> | null;
  if (typeof wait !== 'object' || wait === null) throw new Fault('value_invalid', YIELDS);
  if (wait.for === 'peek') {
    const address = 'address' in wait ? wait.address : undefined;
    if (!isAddress(address)) throw new Fault('value_invalid', 'a plan peeks at [reducer, key], the key 1 to 256 bytes');
    return { for: 'peek', address: [address[0], address[1]] };
  }
  const until = ('until' in wait ? wait.until : undefined) ?? null;
  const known = wait.for === 'one' || wait.for === 'any' || wait.for === 'all';
  if (!known || (until !== null && !isTime(until))) throw new Fault('value_invalid', YIELDS);
  return { for: wait.for as 'one' | 'any' | 'all', emissions: emittedOnes(wait, emissions), until };
}

const YIELDS = 'a plan yields only through `yield* plan.…`';

function emittedOnes(wait: Partial<PlanWait>, emissions: number): readonly number[] {
  const known =
    'emissions' in wait &&
    Array.isArray(wait.emissions) &&
    wait.emissions.length > 0 &&
    wait.emissions.every(
      (emission: unknown) =>
        Number.isInteger(emission) && (emission as number) >= 0 && (emission as number) < emissions,
    );
  if (!known) throw new Fault('effect_unknown', 'a plan awaits an effect that it did not emit');
  return [...wait.emissions];
}

/** A time that fits a record. */
function isTime(at: unknown): at is number {
  return isWhole(at);
}

class RunningPlan implements PlanContext {
  segment = new Segment(0, true);
  emissions = 0;
  readonly seen = new Map<number, Receipt>();

  constructor(
    private readonly definition: PlanDefinition,
    private readonly app: App,
    readonly cell: Address,
  ) {}

  get now(): number {
    return this.segment.at;
  }

  emitEffect<I, P>(effect: EffectDefinition<I, P>, params: I, options: EmitOptions = {}): EffectHandle<P> {
    const declared = this.definition.effects.get(effect.name);
    if (declared === undefined) {
      throw new Fault('effect_unknown', `${this.definition.name} does not declare the effect ${effect.name}`);
    }
    const timeoutMs = options.timeoutMs ?? null;
    if (timeoutMs !== null) this.#later(timeoutMs, 'timeoutMs');
    const approval = askedApproval(options.approval); // L2
    const emission = this.emissions++;
    const { value: copy, fits } = this.#fitting(declared.params, params); // L2
    if (!this.segment.rebuilt) {
      const terms = { definition: declared, params: copy, fits, timeoutMs, approval };
      this.segment.outputs.push({ type: 'effect', emission, ...terms });
    }
    return { emission };
  }

  awaitReceipt<P>(handle: EffectHandle<P>): PlanBody<ReceiptOf<P>>;
  awaitReceipt<P>(handle: EffectHandle<P>, options: { readonly within: number }): PlanBody<ReceiptOf<P> | null>;
  *awaitReceipt<P>(handle: EffectHandle<P>, options?: AwaitOptions): PlanBody<ReceiptOf<P> | null> {
    const resumed = yield { for: 'one', emissions: [handle.emission], until: this.#until(options) };
    return receiptsOf<P>(resumed)?.[0] ?? null;
  }

  *awaitAny<P>(
    handles: readonly EffectHandle<P>[],
    options?: AwaitOptions,
  ): PlanBody<{ readonly handle: EffectHandle<P>; readonly receipt: ReceiptOf<P> } | null> {
    const resumed = yield {
      for: 'any',
      emissions: handles.map((handle) => handle.emission),
      until: this.#until(options),
    };
    const first = 'receipts' in resumed ? resumed.receipts[0] : undefined;
    if (first === undefined) return null;
    const handle = handles.find(({ emission }) => emission === first[0]);
    return handle === undefined ? null : { handle, receipt: first[1] as ReceiptOf<P> };
  }

  *awaitAll<P>(handles: readonly EffectHandle<P>[], options?: AwaitOptions): PlanBody<readonly ReceiptOf<P>[] | null> {
    if (handles.length === 0) return [];
    const resumed = yield {
      for: 'all',
      emissions: handles.map((handle) => handle.emission),
      until: this.#until(options),
    };
    return receiptsOf<P>(resumed);
  }

  *retry<I, P>(
    effect: EffectDefinition<I, P>,
    params: I,
    options: { readonly max: number; readonly on: (receipt: ReceiptOf<P>) => boolean; readonly timeoutMs?: number },
  ): PlanBody<ReceiptOf<P>> {
    const timeout = options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs };
    for (let attempt = 1; ; attempt++) {
      const receipt = yield* this.awaitReceipt(this.emitEffect(effect, params, timeout));
      if (attempt >= options.max || !options.on(receipt)) return receipt;
    }
  }

  *peek(address: Address): PlanBody<Value> {
    const resumed = yield { for: 'peek', address };
    return 'peeked' in resumed ? resumed.peeked : null;
  }

  raiseEvent(event: { readonly name: string; readonly value: unknown }): void {
    const before = this.segment.valueBytes;
    const value = this.#event(event.name, event.value); // L2
    const bytes = this.segment.valueBytes - before;
    this.segment.waitingBytes += bytes;
    if (!this.segment.rebuilt) this.segment.outputs.push({ type: 'raise', name: event.name, value, bytes });
  }

  cancel(handle: EffectHandle, options: { readonly graceMs?: number } = {}): void {
    const graceMs = options.graceMs ?? CANCEL_GRACE_MS;
    this.#later(graceMs, 'graceMs'); // L2
    if (this.segment.rebuilt) return;
    this.segment.outputs.push({ type: 'cancel', emission: handle.emission, graceMs });
  }

  continueAs(input: unknown): void {
    const { value, fits } = this.#fitting(this.definition.input, input);
    const checked = fits ? { ok: true as const, value } : check(this.definition.input, value);
    if (!checked.ok) throw new Fault('intent_invalid', `continueAs: ${checked.path}: expected ${checked.expected}`);
    this.segment.continuation = { input: checked.value };
  }

  #until(options: AwaitOptions | undefined): number | null {
    return options?.within === undefined ? null : this.#later(options.within, 'within');
  }

  #later(ms: number, what: string): number {
    const at = this.segment.at + ms;
    if (isWhole(ms) && isTime(at)) return at;
    throw new Fault('timer_invalid', `${what} is a whole number of milliseconds, not ${String(ms)}`);
  }

  /** The value of an event for the plan's own cell. */
  #event(name: string, given: unknown): Value {
    const node = eventNode(this.app, this.cell, name);
    const { value, fits } = this.#fitting(node, given);
    if (node === undefined) throw unknownEvent(this.cell, name);
    const checked = fits ? { ok: true as const, value } : check(node, value);
    if (checked.ok) return checked.value;
    throw new Fault('event_invalid', `${name} ${checked.path}: expected ${checked.expected}, got ${checked.actual}`);
  }

  /** The copy of a value, which counts, and whether it fits its schema as it is: otherwise the schema must decide. */
  #fitting(node: SchemaNode | undefined, given: unknown): { readonly value: Value; readonly fits: boolean } {
    const fitted = node === undefined ? undefined : fittedGiven(node, given);
    const { value, bytes } = fitted ?? normalGiven(given);
    this.segment.valueBytes += bytes + VALUE_BYTES_EXTRA;
    return { value, fits: fitted !== undefined };
  }
}

/** The requested approvers, checked at the call: a plan is authors' code. */
function askedApproval(given: unknown): { readonly to?: string } | undefined {
  if (given === undefined) return undefined;
  const to = typeof given === 'object' && given !== null && 'to' in given ? given.to : undefined;
  if (to === undefined) return {};
  if (pattern.safeParse(to).success) return { to: to as string };
  throw new Fault('value_invalid', 'approval.to is a pattern of principals');
}

function receiptsOf<P>(resumed: Resumed): readonly ReceiptOf<P>[] | null {
  return 'receipts' in resumed ? resumed.receipts.map(([, receipt]) => receipt as ReceiptOf<P>) : null;
}
