/** What waits for somebody outside: approvals, questions of running effects, and effects that others finish. */
import type { Address, Value } from '@reprise/contracts';
import type { Hash } from '../../../pure/codec/index.js';
import { approvalDigest, type EffectLeaf } from '../../../pure/engine/index.js';
import type { LeafTable } from '../../state/leaf-table.js';
import { effectLeaves } from './effect-leaves.js';

/** One thing that waits for somebody outside. */
export interface PendingItem {
  /** What `decide`, `answer` and `settle` take. */
  readonly id: string;
  readonly kind: 'approval' | 'question' | 'deferred';
  /** The effect that waits. */
  readonly effect: string;
  /** Its kind. */
  readonly name: string;
  readonly cell: Address;
  /** The question; of other items the parameters of the effect. */
  readonly value: Value;
  /** Of an approval: what is approved, as a digest. A decision that names it is refused when it has changed. */
  readonly digest?: string;
  /** Who besides the host may answer, as a pattern of principals. */
  readonly to: string;
  /** When it is given up, in journal milliseconds; null when it is not. */
  readonly expires: number | null;
}

/** Whoever is asked when nobody in particular is. */
const ANYBODY = 'human:*';

/** The open items of a world, in the order in which their effects were emitted. */
export function openItems(table: LeafTable, hash: Hash): readonly PendingItem[] {
  return effectLeaves(table).flatMap(({ effect, leaf }) => itemsOf(effect, leaf, hash));
}

/** A question's id names its effect and its number. */
export function questionId(effect: string, n: number): string {
  return `${effect}.${n}`;
}

/** Reads the id of a question; undefined when it is none. */
export function questionOf(id: string): { readonly effect: string; readonly n: number } | undefined {
  const parts = /^([0-9a-f]{64})\.(\d{1,3})$/.exec(id);
  return parts === null ? undefined : { effect: parts[1] as string, n: Number(parts[2]) };
}

function itemsOf(effect: string, leaf: EffectLeaf, hash: Hash): PendingItem[] {
  if (leaf.late !== undefined) return [];
  const { name, plan, params } = leaf;
  const of = { effect, name, cell: [plan[0], plan[1]] as Address };
  if (leaf.approval !== undefined) {
    const digest = approvalDigest(hash, leaf);
    return [{ ...of, id: effect, kind: 'approval', value: params, digest, to: leaf.approval.to, expires: null }];
  }
  if (leaf.deferred !== undefined && leaf.settler === undefined) {
    const { to, expires } = leaf.deferred;
    return [{ ...of, id: effect, kind: 'deferred', value: params, to: to ?? ANYBODY, expires }];
  }
  return (leaf.asks ?? [])
    .filter(({ answer }) => answer === undefined)
    .map(({ n, question, to, expires }) => {
      return { ...of, id: questionId(effect, n), kind: 'question', value: question, to: to ?? ANYBODY, expires };
    });
}
