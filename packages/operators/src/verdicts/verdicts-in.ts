/** The verdicts that a frame states, each with what it did to trust. */
import { type Actor, actorWords, type JournalRecord, type Value } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { REDUCERS } from '../names/reducers.js';
import type { trustChange, verdictShape } from './verdict.js';

/** A verdict as the journal states it. */
export interface StatedVerdict {
  /** The id of the entity that judges, and of the author that is judged; the author is null for a validation. */
  readonly observer: string;
  readonly agent: string | null;
  readonly item: string;
  readonly verdict: z.infer<typeof verdictShape.verdict>;
  readonly basis: string | null;
  readonly by: string | null;
  readonly trust: z.infer<typeof trustChange> | null;
}

type Fact = Extract<JournalRecord, { readonly kind: 'fact' }>;
type Fields = Readonly<Record<string, Value>>;

const ASSESSED = 'society/Assessed@1';
const VALIDATED = 'society/Validated@1';

/** What the bytes of each frame hold that has a verdict. */
export const HOLDING_VERDICTS: readonly string[] = [ASSESSED, VALIDATED];

/** The verdicts of a frame, in the order of its records. */
export function verdictsIn(all: readonly JournalRecord[]): readonly StatedVerdict[] {
  return all.flatMap((record, i) => {
    if (!isOfEntity(record)) return [];
    const verdict = verdictOf(record, all, i);
    return verdict === undefined ? [] : [verdict];
  });
}

function isOfEntity(record: JournalRecord): record is Fact {
  return record.kind === 'fact' && record.from?.[0] === REDUCERS.entity;
}

function verdictOf(fact: Fact, all: readonly JournalRecord[], i: number): StatedVerdict | undefined {
  if (fact.name !== ASSESSED && fact.name !== VALIDATED) return undefined;
  const observer = String(fact.from?.[1]);
  const value = fact.value as Fields;
  const given = { observer, item: String(value.item_id), by: giverOf(value.by as unknown as Actor, observer) };
  if (fact.name === VALIDATED) return { ...given, agent: null, verdict: 'validated', basis: null, trust: null };
  const agent = String(value.agent_id);
  const verdict = value.verdict as StatedVerdict['verdict'];
  return { ...given, agent, verdict, basis: String(value.basis), trust: trustAfter(all, i, agent) };
}

/** The change of trust that a verdict makes: the entity states it behind the verdict, in the same delivery. */
function trustAfter(all: readonly JournalRecord[], i: number, agent: string): StatedVerdict['trust'] {
  const verdict = all[i] as Fact;
  const change = all.slice(i + 1).find((record) => {
    if (!isOfEntity(record) || record.name !== 'society/TrustChanged@1') return false;
    return record.from?.[1] === verdict.from?.[1] && (record.value as Fields).agent_id === agent;
  });
  if (change === undefined) return null;
  const { old_ppm, ppm, tier, observations } = (change as Fact).value as Fields;
  return {
    old_ppm: Number(old_ppm),
    ppm: Number(ppm),
    tier: String(tier),
    observations: Number(observations),
  };
}

/** Who acted in the name of the entity, in words; null for its own session, and for the person whose entity it is. */
function giverOf(by: Actor, observer: string): string | null {
  const isItself = by.kind === 'node' || (by.kind === 'person' && by.id === observer);
  return isItself ? null : actorWords(by);
}
