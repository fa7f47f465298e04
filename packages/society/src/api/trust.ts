/** Trust as an app reads it: the verdicts of one entity on the items of another. */
import type { Address } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import type { Camel } from '@reprise/org';
import { shownAnswer } from '../answers/shown.js';
import { scoreOf as scored, UNJUDGED } from '../pure/reducer/memory/trust.js';
import type { ToolAnswer, ToolArgs } from '../wire/index.js';
import { entityCell } from './requests.js';

/** The trust of an observer in an agent. */
export type TrustScore = ToolAnswer<'memory_assess'>;

/**
 * What is stated about an item, and what it rests on: a person, another source, or what came true. `retract` takes an
 * earlier verdict back; `evidenceRef` names evidence in words that can be erased.
 */
export type Verdict = Camel<RecordedVerdict>;

/** The same, as the tool takes it. */
export type RecordedVerdict = Omit<ToolArgs<'memory_assess'>, 'item_id' | 'command_id'>;

/** The trust of an entity in an agent as it stands: no call, and no record in the journal. */
export async function scoreOf(world: World, observer: Address, agent: string): Promise<TrustScore> {
  const verdicts = (await entityCell(world, observer).row('trust', agent)) ?? UNJUDGED;
  const score = { value: scored(observer[1], agent, verdicts), refs: [] };
  return shownAnswer('memory_assess', score, world.content);
}
