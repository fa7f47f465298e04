/**
 * The effects that are open after a frame, from a snapshot and the records behind it. Nothing is replayed and no
 * app is needed: the price is that of the open effects and of the frames since the snapshot.
 *
 * Invariants
 * OE1  After each frame they are the open effects of `worldAt`: the records state every change of an effect.
 */
import type { Address, Guarantee, JournalRecord, KernelCommand, PlanAddress, Value } from '@reprise/contracts';
import { copyValue } from '../../pure/codec/index.js';
import type { EffectLeaf } from '../../pure/engine/index.js';

/** A question of a running adapter that is not answered. */
interface OpenQuestion {
  readonly n: number;
  readonly question: Value;
  /** When it was asked, and when it expires, in journal milliseconds. */
  readonly at: number;
  readonly expires: number | null;
  /** The principals that may answer besides the operator, as a pattern; null where nothing was stated. */
  readonly to: string | null;
}

/** An effect without a receipt. */
export interface OpenEffect {
  readonly effect: string;
  readonly name: string;
  /** The plan that emitted it, by its cell and its ordinal. */
  readonly plan: PlanAddress;
  readonly params: Value;
  readonly guarantee: Guarantee;
  /** The frame that emitted it. */
  readonly frame: number;
  readonly deadline: number | null;
  /** The armed attempt; 0 while none was started. */
  readonly attempt: number;
  /** It waits for approval by these principals, as a pattern. */
  readonly approval?: { readonly to: string };
  /** Another system finishes it: who may settle it besides the operator, and until when. */
  readonly deferred?: { readonly to: string | null; readonly expires: number | null };
  /** The cell that settles it; no adapter does. */
  readonly settler?: Address;
  /** The questions that nobody has answered. */
  readonly asks: readonly OpenQuestion[];
}

/** Follows the open effects of a world from frame to frame. Memory is bounded by their number. */
export class OpenEffectsFold {
  readonly #open: Map<string, OpenEffect>;

  /** @param leaves the effects to begin with, as a snapshot holds them; none for a world from its first frame on */
  constructor(leaves: ReadonlyMap<string, EffectLeaf> = new Map()) {
    this.#open = new Map([...leaves].map(([effect, leaf]) => [effect, fromLeaf(effect, leaf)]));
  }

  /** The open effects by id, in the order in which they were emitted. */
  get open(): ReadonlyMap<string, OpenEffect> {
    return this.#open;
  }

  /** Takes the records of the next frame. */
  take(seq: number, records: readonly JournalRecord[]): void {
    for (const [i, record] of records.entries()) this.#take(seq, record, records[i + 1]);
  }

  #take(seq: number, record: JournalRecord, next: JournalRecord | undefined): void {
    switch (record.kind) {
      case 'effect':
        this.#open.set(record.effect, emitted(seq, record));
        return;
      case 'attempt':
        return this.#change(record.effect, ({ deferred: _, ...effect }) => ({ ...effect, attempt: record.attempt }));
      case 'deferred': {
        const { to, expires } = record;
        return this.#change(record.effect, (effect) => ({
          ...effect,
          asks: [],
          deferred: { to, expires: soonest(expires, effect.deadline) },
        }));
      }
      case 'ask': {
        const { n, question, at, expires, to } = record;
        return this.#change(record.effect, (effect) => ({
          ...effect,
          asks: [...effect.asks.filter((known) => known.n !== n), { n, question, at, expires, to }],
        }));
      }
      case 'command':
        return this.#command(record.command);
      case 'cell_command':
        if (next?.kind !== 'denial') this.#command(record.command);
        return;
      case 'receipt':
      case 'settled':
        this.#open.delete(record.effect);
        return;
      default:
        return;
    }
  }

  #command({ name, value }: KernelCommand): void {
    if (name === 'sys/Answer@1')
      this.#change(value.effect, (effect) => ({ ...effect, asks: effect.asks.filter(({ n }) => n !== value.n) }));
    if (name !== 'sys/Decide@1' || !value.decision.approve) return;
    const { params } = value.decision;
    this.#change(value.effect, ({ approval: _, ...effect }) => (params === undefined ? effect : { ...effect, params }));
  }

  #change(id: string, change: (effect: OpenEffect) => OpenEffect): void {
    const known = this.#open.get(id);
    if (known !== undefined) this.#open.set(id, change(known));
  }
}

function emitted(frame: number, record: Extract<JournalRecord, { readonly kind: 'effect' }>): OpenEffect {
  const { effect, name, plan, params, guarantee, deadline, approval } = record;
  const waits = approval === undefined ? {} : { approval: { to: approval } };
  return { effect, name, plan, params, guarantee, frame, deadline, attempt: 0, asks: [], ...waits };
}

function fromLeaf(effect: string, leaf: EffectLeaf): OpenEffect {
  const { name, plan, guarantee, deadline, attempt, approval, deferred, settler, asks = [] } = leaf;
  return {
    ...{ effect, name, plan, params: copyValue(leaf.params), guarantee, frame: leaf.queued[0], deadline, attempt },
    ...(approval === undefined ? {} : { approval: { to: approval.to } }),
    ...(deferred === undefined ? {} : { deferred }),
    ...(settler === undefined ? {} : { settler }),
    asks: asks
      .filter(({ answer }) => answer === undefined)
      .map(({ n, question, at, expires, to }) => ({ n, question: copyValue(question), at, expires, to })),
  };
}

function soonest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
