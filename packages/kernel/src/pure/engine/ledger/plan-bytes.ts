/** The size of a plan's leaf in canonical bytes, which each of its steps is checked against. */
import type { Value } from '@reprise/contracts';
import { byteLength, headBytes } from '../../codec/index.js';
import type { PlanLeaf } from '../leaf/leaves.js';

type Resumptions = PlanLeaf['resumptions'];

/**
 * The sizes of lists of resumptions, without their heads. Nothing writes into a list: a step makes another one, whose
 * size follows from the size before. A plan of 200 awaits spent a third of its CPU on counting all of it at each await.
 */
const counted = new WeakMap<Resumptions, number>();

/** The size of a plan's leaf in canonical bytes. */
export function planBytes({ resumptions, ...others }: PlanLeaf): number {
  const rest = byteLength({ ...others, resumptions: NONE } as unknown as Value) - headBytes(0);
  return rest + headBytes(resumptions.length) + itemBytes(resumptions);
}

/** The resumptions of a plan after another one. */
export function withResumption(before: Resumptions, next: Resumptions[number]): Resumptions {
  const after = [...before, next];
  counted.set(after, itemBytes(before) + byteLength(next as unknown as Value));
  return after;
}

const NONE: Resumptions = [];

function itemBytes(resumptions: Resumptions): number {
  let bytes = counted.get(resumptions);
  if (bytes === undefined) {
    bytes = resumptions.reduce((sum, resumption) => sum + byteLength(resumption as unknown as Value), 0);
    counted.set(resumptions, bytes);
  }
  return bytes;
}
