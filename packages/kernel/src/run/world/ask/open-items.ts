/** The pending items of a world: approvals, questions of running effects, and effects that other systems finish. */
import type { Address, Value } from '@reprise/contracts';
import { copyValue, type Hash } from '../../../pure/codec/index.js';
import { approvalDigest, type EffectLeaf } from '../../../pure/engine/index.js';
import type { LeafTable } from '../../../state/leaf-table.js';
import { effectLeaves } from './effect-leaves.js';

/** One item that waits for a person or another system. */
export interface PendingItem {
  /** The id that `decide`, `answer` and `settle` take. */
  readonly id: string;
  readonly kind: 'approval' | 'question' | 'deferred';
  /** The id of the effect that waits. */
  readonly effect: string;
  /** The kind of that effect. */
  readonly name: string;
  readonly cell: Address;
  /** The question; of other items the parameters of the effect. */
  readonly value: Value;
  /** For an approval: a digest of the parameters. A decision that names it is refused when they have changed. */
  readonly digest?: string;
  /** The principals that may answer besides the operator, as a pattern. */
  readonly to: string;
  /** When it expires, in journal milliseconds; null for never. */
  readonly expires: number | null;
}

/** An item that was pending, or its id. */
export type DecidedItem = string | Pick<PendingItem, 'id' | 'kind'>;

/** The default pattern of those who may answer. */
const ANYBODY = 'human:*';

/** The pending items of a world, in the order in which their effects were emitted. */
export function openItems(table: LeafTable, hash: Hash): readonly PendingItem[] {
  return effectLeaves(table).flatMap(({ effect, leaf }) => itemsOf(effect, leaf, hash));
}

/** A question's id names its effect and its number. */
function questionId(effect: string, n: number): string {
  return `${effect}.${n}`;
}

/** Reads the id of a question; undefined when the text is not one. */
export function questionOf(id: string): { readonly effect: string; readonly n: number } | undefined {
  const parts = /^([0-9a-f]{64})\.(\d{1,3})$/.exec(id);
  return parts === null ? undefined : { effect: parts[1] as string, n: Number(parts[2]) };
}

function itemsOf(effect: string, leaf: EffectLeaf, hash: Hash): PendingItem[] {
  if (leaf.late !== undefined) return [];
  const { name, plan } = leaf;
  const params = copyValue(leaf.params); // the caller's own
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
      return {
        ...of,
        id: questionId(effect, n),
        kind: 'question',
        value: copyValue(question),
        to: to ?? ANYBODY,
        expires,
      };
    });
}
