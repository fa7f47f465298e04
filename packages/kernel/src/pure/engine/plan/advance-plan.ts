/**
 * Starts or resumes one plan instance: the savepoint around a generator's segment, from one await to the next.
 *
 * Invariants
 * S1  A segment takes place whole or not at all. What it asks for is collected while it runs and released behind every
 *     bound; a segment that throws leaves a fault in place of all of it (PLAN-10).
 * S2  An effect is opened only when the leaf of its plan has room for the receipt. Otherwise the effect would happen
 *     outside, and the plan would fail when its answer came.
 * S3  A running generator belongs to exactly one leaf. It is taken out of the cache before it advances: a frame that is
 *     folded again, since a leaf was missing or two folds are compared, must not find it one step ahead.
 * S4  Only journaled time decides about a deadline: an await that could go on either way goes on in the frame of the
 *     timer, never because a clock was looked at (DET-1).
 */
import type { PlanAddress, Receipt, Value } from '@reprise/contracts';
import type { PlanDefinition, PlanWait, Resumed } from '../../define/index.js';
import { check } from '../../schema/index.js';
import { newPlan } from '../cell/deliver-event.js';
import { peekState } from '../cell/migrate.js';
import type { FrameFold, PlanDelivery } from '../frame/frame-fold.js';
import { openAllowed } from '../gate/effects.js';
import { type EffectVerdict, gateEffect, type Refused } from '../gate/gate.js';
import { holderOf } from '../gate/rights.js';
import { EMISSION_BYTES, FRAME_VALUE_BYTES_MAX, LEAF_BYTES_MAX, PLAN_AWAITS_MAX } from '../leaf/bounds.js';
import { effectId } from '../leaf/identity.js';
import { planKey, timerKey } from '../leaf/leaf-key.js';
import type { PlanLeaf } from '../leaf/leaves.js';
import { Fault, thrownBy } from '../leaf/signals.js';
import { planBytes, withResumption } from '../ledger/plan-bytes.js';
import { AWAIT_TIMER, cancelEffect, dropAwaitTimer, endPlan, ownerOf, updateCell } from '../ledger/settle.js';
import { LivePlan, type PlanOutput, Segment } from './live-plan.js';

/** Runs a plan to its next await, when it can continue. */
export function advancePlan(fold: FrameFold, delivery: PlanDelivery): void {
  const leaf = fold.overlay.get(planKey(delivery.plan));
  if (leaf === undefined) return; // it ended earlier in this frame
  const definition = fold.env.app.plans.get(leaf.name);
  try {
    if (definition === undefined) throw new Fault('plan_unknown', `the app has no plan ${leaf.name}`);
    new PlanRun(fold, delivery, leaf, definition).go();
  } catch (thrown) {
    if (!(thrown instanceof Fault)) throw thrown;
    failPlan(fold, delivery, leaf, thrown);
  }
}

/** A plan's deadline came: the await returns without a receipt. */
export function deadlineReached(fold: FrameFold, plan: PlanAddress, due: number): void {
  const leaf = fold.overlay.get(planKey(plan));
  if (leaf === undefined) return;
  if (leaf.wait === null || leaf.wait.for === 'peek' || leaf.wait.until !== due) return;
  fold.enqueue({ kind: 'plan', plan, cause: 0 });
}

/** Replaces a plan step that the cascade's bound cut off. */
export function exceedPlan(fold: FrameFold, delivery: PlanDelivery): void {
  const leaf = fold.overlay.get(planKey(delivery.plan));
  if (leaf !== undefined)
    failPlan(fold, delivery, leaf, new Fault('cascade_exceeded', 'the cascade went over its bound'));
}

function failPlan(fold: FrameFold, delivery: PlanDelivery, leaf: PlanLeaf, fault: Fault): void {
  const cause = fold.push({ kind: 'fault', c: delivery.cause, target: delivery.plan, code: fault.code });
  fold.faulted.push({ target: delivery.plan, name: leaf.name, ...thrownBy(fault) });
  endPlan(fold, delivery.plan, leaf, { status: 'error', code: fault.code }, cause);
}

/**
 * The receipts of some emissions, in the order in which they arrived. `seen` has those of every earlier await: only what
 * is asked for is looked up, unless the order between several of them counts.
 */
function arrivedOf(
  emissions: readonly number[],
  seen: ReadonlyMap<number, Receipt>,
  inbox: PlanLeaf['inbox'],
): ReadonlyMap<number, Receipt> {
  const arrived = new Map<number, Receipt>();
  const earlier = emissions.filter((emission) => seen.has(emission));
  const inOrder = earlier.length < 2 ? earlier : [...seen.keys()].filter((emission) => earlier.includes(emission));
  for (const emission of inOrder) arrived.set(emission, seen.get(emission) as Receipt);
  for (const [emission, receipt] of inbox) if (emissions.includes(emission)) arrived.set(emission, receipt);
  return arrived;
}

class PlanRun {
  readonly #segment: Segment;
  /** The plan as it will be when the segment takes place. */
  #leaf: PlanLeaf;

  constructor(
    private readonly fold: FrameFold,
    private readonly delivery: PlanDelivery,
    private readonly before: PlanLeaf,
    private readonly definition: PlanDefinition,
  ) {
    this.#segment = new Segment(fold.at, false);
    this.#leaf = before;
  }

  go(): void {
    const first = this.before.started === null;
    const live = this.#live();
    let resumed = first ? undefined : this.#answerTo(live, this.before.wait);
    if (!first && resumed === undefined) {
      this.fold.env.plans?.set(this.before, live); // nothing to continue yet
      return;
    }
    if (first) this.#change({ started: this.fold.at });
    let wait = this.#step(live, resumed);
    for (;;) {
      if (wait === undefined) break;
      resumed = this.#answerTo(live, wait);
      if (resumed === undefined) break;
      wait = this.#step(live, resumed);
    }
    this.#takePlace(live, wait);
  }

  #change(part: Partial<PlanLeaf>): void {
    this.#leaf = { ...this.#leaf, ...part };
  }

  #live(): LivePlan {
    const cached = this.fold.env.plans?.get(this.before);
    if (cached !== undefined) {
      this.fold.env.plans?.delete(this.before); // taken: an abandoned fold must not find it advanced
      return cached;
    }
    const live = new LivePlan(this.definition, this.fold.env.app, this.delivery.plan, this.before.input);
    live.catchUp(this.before);
    return live;
  }

  #step(live: LivePlan, resumed: Resumed | undefined): PlanWait | undefined {
    if (resumed !== undefined) {
      const { resumptions, inbox } = this.#leaf;
      if (resumptions.length >= PLAN_AWAITS_MAX) {
        throw new Fault('plan_awaits_exceeded', `more than ${PLAN_AWAITS_MAX} awaits; continue with continueAs`);
      }
      const taken = 'receipts' in resumed ? resumed.receipts.map(([emission]) => emission) : [];
      this.#change({
        resumptions: withResumption(resumptions, { at: this.fold.at, value: resumed }),
        inbox: inbox.filter(([emission]) => !taken.includes(emission)),
      });
    }
    const wait = live.advance(this.#segment, resumed);
    // Checked here and not with each value: a rebuilt plan has other segments, and must not differ (live-plan/L2).
    if (this.#segment.valueBytes > FRAME_VALUE_BYTES_MAX) {
      throw new Fault('record_too_large', `one delivery gave more than ${FRAME_VALUE_BYTES_MAX} bytes of values`);
    }
    this.#change({ emissions: live.emissions });
    return wait;
  }

  /** The result of a wait; undefined while it must go on waiting. */
  #answerTo(live: LivePlan, wait: PlanWait | null): Resumed | undefined {
    if (wait === null) return undefined;
    if (wait.for === 'peek') return { peeked: peekState(this.fold, wait.address) };
    const arrived = arrivedOf(wait.emissions, live.seen, this.#leaf.inbox);
    if (wait.for === 'all') {
      if (wait.emissions.every((emission) => arrived.has(emission))) {
        return { receipts: wait.emissions.map((emission) => [emission, arrived.get(emission) as Receipt] as const) };
      }
    } else {
      for (const first of arrived) return { receipts: [first] };
    }
    // The deadline is journaled time and nothing else: the frame of its timer decides.
    return wait.until !== null && this.fold.at >= wait.until ? { deadline: true } : undefined;
  }

  #takePlace(live: LivePlan, wait: PlanWait | undefined): void {
    const { fold } = this;
    const { plan, cause } = this.delivery;
    this.#change({ wait: wait ?? null });
    fold.afford(this.#segment);
    const emitted = this.#segment.outputs.filter(({ type }) => type !== 'raise').length;
    // Checked before the effects are emitted: a plan that could not take their receipts must not start them.
    if (planBytes(this.#leaf) + emitted * EMISSION_BYTES > LEAF_BYTES_MAX) {
      const what = 'its open effects and what its awaits returned take';
      throw new Fault('plan_too_large', `${what} more than ${LEAF_BYTES_MAX} bytes; continue with continueAs`);
    }
    fold.spend(this.#segment.valueBytes);
    dropAwaitTimer(fold, plan, this.before);
    let denied = false;
    for (const output of this.#segment.outputs) denied = this.#release(output) || denied;
    if (this.#leaf.stopped === true) denied = this.#stopAtOnce() || denied;
    if (wait === undefined) {
      endPlan(fold, plan, this.#leaf, { status: 'ok', code: null }, cause);
      if (this.#segment.continuation !== undefined) this.#continue(this.#segment.continuation.input);
      return;
    }
    fold.overlay.set(planKey(plan), this.#leaf);
    fold.env.plans?.set(this.#leaf, live);
    if (wait.for !== 'peek' && wait.until !== null) {
      fold.overlay.set(timerKey(wait.until, ownerOf(plan), plan[2], AWAIT_TIMER), { due: wait.until });
    }
    if (denied) fold.enqueue({ kind: 'plan', plan, cause });
  }

  /** @returns true when the plan's inbox got a receipt on the spot */
  #release(output: PlanOutput): boolean {
    const { fold } = this;
    switch (output.type) {
      case 'raise': {
        const to = ownerOf(this.delivery.plan);
        const event = { name: output.name, value: output.value };
        const index = fold.push({ kind: 'event', c: this.delivery.cause, to, event, from: this.delivery.plan });
        fold.enqueue({
          kind: 'event',
          to,
          event,
          from: this.delivery.plan,
          cause: index,
          bytes: output.bytes,
          reply: false,
          notice: false,
          root: false,
        });
        return false;
      }
      case 'cancel': {
        const { open, inbox } = this.#leaf;
        const meant = open.find(([emission]) => emission === output.emission);
        const cancelled = meant && cancelEffect(fold, meant[1], this.delivery.cause, output);
        if (cancelled === undefined) return false;
        this.#change({
          open: open.filter(([emission]) => emission !== output.emission),
          inbox: [...inbox, [output.emission, cancelled]],
        });
        return true;
      }
      case 'effect':
        return this.#emit(output);
      default:
        return output satisfies never;
    }
  }

  #emit(output: PlanOutput & { type: 'effect' }): boolean {
    const { fold } = this;
    const leaf = this.#leaf;
    const { plan, cause: c } = this.delivery;
    const { emission, definition } = output;
    const params = output.fits ? { ok: true as const, value: output.params } : check(definition.params, output.params);
    const value = params.ok ? params.value : output.params;
    const identity = {
      plan,
      planName: leaf.name,
      generation: leaf.inc,
      emission,
      kind: definition.name,
      params: value,
    };
    const idIn = (world: string): string => effectId({ world, ...identity }, fold.env.hash);
    const effect = idIn(fold.rules.world);
    const origins = fold.rules.fork?.origins ?? [];
    const verdict: EffectVerdict = params.ok
      ? gateEffect(fold, {
          plan,
          inc: leaf.inc,
          definition,
          params: value,
          ...(output.approval && { approval: output.approval }),
        })
      : { allow: false, code: 'validation_error', rule: null };
    if (!verdict.allow) return this.#deny(effect, output, verdict);
    const { timeoutMs } = output;
    const receipt = openAllowed(fold, {
      effect,
      plan,
      inc: leaf.inc,
      emission,
      definition,
      params: value,
      timeoutMs,
      verdict,
      cause: c,
      origins: origins.map(idIn),
    });
    if (receipt === undefined) this.#change({ open: [...leaf.open, [emission, effect]] });
    else this.#settleNow(effect, emission, receipt);
    return receipt !== undefined;
  }

  /** It was stopped before its first segment: no effect of this segment can have begun. */
  #stopAtOnce(): boolean {
    const { stopped: _done, open: opened, ...rest } = this.#leaf;
    this.#leaf = { ...rest, open: [] };
    for (const [emission, effect] of opened) {
      const cancelled = cancelEffect(this.fold, effect, this.delivery.cause);
      if (cancelled !== undefined) this.#change({ inbox: [...this.#leaf.inbox, [emission, cancelled]] });
    }
    return opened.length > 0;
  }

  #deny(effect: string, { emission, definition }: PlanOutput & { type: 'effect' }, { code, rule }: Refused): true {
    const { fold } = this;
    const { plan, cause: c } = this.delivery;
    const who = holderOf(ownerOf(plan));
    fold.push({ kind: 'denial', c, who, what: definition.name, effect, code, rule });
    this.#settleNow(effect, emission, { adapter: 'gate', status: 'denied', code, attempts: 0 });
    return true;
  }

  /** The plan runs and owns its leaf: its receipt goes there. */
  #settleNow(effect: string, emission: number, receipt: Receipt): void {
    const { status, code = null } = receipt;
    this.fold.push({ kind: 'settled', c: this.delivery.cause, effect, status, code, by: 'gate' });
    this.#change({ inbox: [...this.#leaf.inbox, [emission, receipt]] });
  }

  #continue(input: Value): void {
    const { fold } = this;
    const [reducer, key] = this.delivery.plan;
    let next: PlanAddress | undefined;
    updateCell(fold, [reducer, key], ({ ord, plans }) => {
      next = [reducer, key, ord];
      return { ord: ord + 1, plans: [...plans, ord] };
    });
    if (next === undefined) return;
    const cause = fold.push({ kind: 'intent', c: this.delivery.cause, plan: next, name: this.#leaf.name, input });
    fold.overlay.set(planKey(next), newPlan(this.#leaf.name, this.#leaf.inc, input));
    fold.enqueue({ kind: 'plan', plan: next, cause });
  }
}
