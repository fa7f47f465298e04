/** Who decided an item that waited for input from outside. What was decided once never changes, so the answer stays. */
import type { Address } from '@reprise/contracts';
import { effectKey, settledKey } from '../leaf/leaf-key.js';
import type { AskedQuestion, DecidedBy, EffectLeaf, LeafReader, SettledLeaf } from '../leaf/leaves.js';
import { decidedBy } from './settle.js';

/** Names an item: an effect, or with `n` a question of it. `approval`: what is asked for is who approved or denied it. */
export interface ItemName {
  readonly effect: string;
  readonly n?: number;
  readonly approval?: boolean;
}

/** The decision about an item that does not wait any more, and those who might have made it. */
interface FirstDecision {
  /** The kind of the effect. */
  readonly name: string;
  readonly settler?: Address;
  /** The principals that might have decided, as a pattern; null for all people. */
  readonly to: string | null;
  /** Absent when nobody decided: its time ran out, or its plan ended. */
  readonly decided?: DecidedBy;
}

/** The decision about an item; undefined while it waits, and for what never waited. */
export function firstDecision(
  reader: LeafReader,
  { effect: id, n, approval = false }: ItemName,
): FirstDecision | undefined {
  const open = reader.get(effectKey(id));
  const isOpen = open !== undefined && open.late === undefined;
  if (n === undefined) return isOpen ? approvalOf(open, approval) : endOf(reader.get(settledKey(id)), approval);
  return isOpen ? answerOf(open, n) : recordedAnswer(reader.get(settledKey(id)), n);
}

/** An effect that goes on since it was approved; one that waits again, for a settlement, is open. */
function approvalOf({ name, approved, deferred }: EffectLeaf, approval: boolean): FirstDecision | undefined {
  if (approved === undefined || (deferred !== undefined && !approval)) return undefined;
  return { name, to: approved.to, decided: decidedBy(approved) };
}

function endOf(settled: SettledLeaf | undefined, approval: boolean): FirstDecision | undefined {
  if (settled === undefined || settled.asked === true) return undefined;
  const { name, to, settler, decided, approved } = settled;
  return {
    name,
    to,
    ...(settler && { settler }),
    ...decision(approval ? (approved ?? decided) : (decided ?? approved)),
  };
}

function answerOf({ name, asks = [] }: EffectLeaf, n: number): FirstDecision | undefined {
  const asked: AskedQuestion | undefined = asks.find((question) => question.n === n);
  if (asked?.answer === undefined) return undefined;
  return { name, to: asked.to, ...decision('expired' in asked.answer ? undefined : decidedBy(asked.answer)) };
}

function recordedAnswer(settled: SettledLeaf | undefined, n: number): FirstDecision | undefined {
  const answer = settled?.answers?.find((one) => one.n === n);
  return settled && answer && { name: settled.name, to: answer.to, decided: decidedBy(answer) };
}

function decision(decided: DecidedBy | undefined): Pick<FirstDecision, 'decided'> {
  return decided === undefined ? {} : { decided };
}
