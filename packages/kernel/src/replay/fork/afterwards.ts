/** Collects what happened to the original after the cut: how its effects were settled, and which were armed. */
import type { IngressRecord, Receipt } from '@reprise/contracts';
import { type EffectLeaf, effectOfTimer } from '../../pure/engine/index.js';
import type { Owed } from '../verify/index.js';
import { FORK_ORIGINS_MAX } from './bounds.js';
import type { OtherOutcomes } from './instead.js';
import type { RecordedReceipt } from './recorded-receipts.js';

/** An effect that is open at the cut. */
export interface OpenAtCut {
  readonly effect: string;
  readonly leaf: EffectLeaf;
}

/** Collects what frames after the cut record about effects. */
export class Afterwards {
  readonly #receipts = new Map<string, RecordedReceipt>();
  readonly #armed = new Set<string>();
  readonly #origins: string[];

  /** @param world the world that the frames after the cut belong to */
  constructor(world: string) {
    this.#origins = [world];
  }

  /** Takes the next frame. For a frame that cannot be replayed it knows which effects were armed, and no outcome. */
  take(seq: number, { all: records, settled }: Pick<Owed, 'all' | 'settled'>): void {
    const [ingress] = records;
    if (ingress?.kind === 'fork') this.#origins.push(ingress.world);
    for (const record of records) if (record.kind === 'attempt') this.#armed.add(record.effect);
    for (const { effect, leaf, receipt } of settled) {
      if (this.#receipts.has(effect)) continue; // the first outcome is the one that its plan got
      const [reducer, key] = leaf.plan;
      const order = this.#receipts.size;
      const inside = !settles(ingress as IngressRecord, effect);
      this.#receipts.set(effect, { effect, seq, order, name: leaf.name, cell: [reducer, key], receipt, inside });
    }
  }

  /** Receipts of the worlds that these frames belong to. */
  get origins(): string[] {
    return this.#origins.slice(0, FORK_ORIGINS_MAX);
  }

  /**
   * The receipts for the effects that are open at the cut: the original's, in the order in which it got them. An effect
   * without one has an unknown outcome, or was cancelled if it was never armed.
   *
   * @param other the outcomes that some of them get instead
   */
  settlementsOf(open: readonly OpenAtCut[], other: OtherOutcomes): [string, Receipt][] {
    const placed = open.map(({ effect, leaf }) => {
      const recorded = this.#receipts.get(effect);
      const receipt = other.receiptOf(effect, leaf.name, recorded?.receipt ?? this.#unanswered(effect, leaf));
      return { effect, receipt, order: recorded?.order ?? Number.POSITIVE_INFINITY };
    });
    return placed.sort(byOrder).map(({ effect, receipt }) => [effect, receipt]);
  }

  /** The receipts of effects that were emitted after the cut. */
  receiptsBut(open: readonly OpenAtCut[]): RecordedReceipt[] {
    const settled = new Set(open.map(({ effect }) => effect));
    return [...this.#receipts.values()].filter(({ effect }) => !settled.has(effect));
  }

  #unanswered(effect: string, { attempt }: EffectLeaf): Receipt {
    const status = attempt > 0 || this.#armed.has(effect) ? 'outcome_unknown' : 'cancelled';
    return { adapter: 'kernel', status, code: 'adapter_error/forked', attempts: attempt };
  }
}

/** Whether an ingress itself ends this effect: its receipt, a command about it, its deadline. */
function settles(ingress: IngressRecord, effect: string): boolean {
  if (ingress.kind === 'receipt') return ingress.effect === effect;
  if (ingress.kind === 'timer') return effectOfTimer(ingress.name) === effect;
  return ingress.kind === 'command' && 'effect' in ingress.command.value && ingress.command.value.effect === effect;
}

/** Those without a place keep the order in which they were emitted. */
function byOrder(a: { readonly order: number }, b: { readonly order: number }): number {
  return a.order === b.order ? 0 : a.order - b.order;
}
