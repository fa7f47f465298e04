/** The size of a plan's leaf in canonical bytes, which each of its steps is checked against. */
import type { Receipt, Value } from '@reprise/contracts';
import { byteLength, headBytes } from '../../codec/index.js';
import type { PlanLeaf } from '../leaf/leaves.js';

type Resumptions = PlanLeaf['resumptions'];
type Numbered = readonly [number, Receipt];

/**
 * The sizes of what nothing writes into: inputs and receipts, which a plan has at each of its steps, and lists of
 * resumptions, without their heads. A plan of 200 awaits spent a third of its CPU on counting all of it at each await.
 */
const counted = new WeakMap<object, number>();

/** The size of a plan's leaf in canonical bytes. */
export function planBytes(plan: PlanLeaf): number {
  const { resumptions, input, inbox } = plan;
  const rest = byteLength({ ...plan, resumptions: NONE, input: NONE, inbox: NONE } as unknown as Value);
  const resumed = headBytes(resumptions.length) + itemBytes(resumptions);
  return rest - 3 * headBytes(0) + resumed + knownBytes(input) + receiptsBytes(inbox);
}

/** The resumptions of a plan after another one. */
export function withResumption(before: Resumptions, next: Resumptions[number]): Resumptions {
  const after = [...before, next];
  counted.set(after, itemBytes(before) + resumptionBytes(next));
  return after;
}

const NONE: readonly Value[] = [];

function itemBytes(resumptions: Resumptions): number {
  let bytes = counted.get(resumptions);
  if (bytes === undefined) {
    bytes = resumptions.reduce((sum, resumption) => sum + resumptionBytes(resumption), 0);
    counted.set(resumptions, bytes);
  }
  return bytes;
}

function resumptionBytes({ at, value }: Resumptions[number]): number {
  if (!('receipts' in value)) return byteLength({ at, value } as unknown as Value);
  return byteLength({ at, value: { receipts: NONE } }) - headBytes(0) + receiptsBytes(value.receipts);
}

function receiptsBytes(list: readonly Numbered[]): number {
  let bytes = headBytes(list.length);
  for (const [emission, receipt] of list) {
    bytes += headBytes(2) + byteLength(emission) + knownBytes(receipt as unknown as Value);
  }
  return bytes;
}

function knownBytes(value: Value): number {
  if (typeof value !== 'object' || value === null) return byteLength(value);
  let bytes = counted.get(value);
  if (bytes === undefined) {
    bytes = byteLength(value);
    counted.set(value, bytes);
  }
  return bytes;
}
