/** What agents brought back, as their parent reads it and decides on it. */
import { present, RepriseError, type Value } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { agentOfStaging, IDENTITY_BOUNDS, itemOf, type StagedRow, stagingIdOf, stagingOfStore } from '../pure/index.js';
import type { ToolAnswer } from '../wire/index.js';
import type { EntityCaller } from './caller.js';
import type { ReadMemory } from './entity-memory.js';
import type { SocietyBy } from './requests.js';

/** An item that an agent brought back, and that waits for a decision. */
export interface StagedItem extends ReadMemory {
  /** What it was brought back with: the argument of `staging_review`. */
  readonly staging_group_id: string;
  /** Sessions of the agent since the last state that both sides know; null for a base that this world does not know. */
  readonly divergence: number | null;
  /** `forced` above 5 sessions, and for an unknown base. */
  readonly review: 'usual' | 'forced';
}

/** A decision: all items or some of them are approved, which rejects the others; or all are rejected. */
export type ReviewDecision = { readonly approve: 'all' | readonly string[] } | { readonly reject: true };

/** What came of a decision: ids of copies in their groups, of rejected items, and of those that could not be written. */
export type ReviewReport = Omit<ToolAnswer<'staging_review'>, 'staging_group_id'>;

/** What waits for a decision of an entity about an agent. */
async function stagedBy(
  kernel: Pick<World, 'table'>,
  { address }: Pick<EntityCaller, 'address'>,
  agent: string,
): Promise<readonly (readonly [key: string, row: StagedRow])[]> {
  const rows = await kernel.table(address, 'staged', { limit: IDENTITY_BOUNDS.staged });
  return rows
    .map(([key, row]) => [key, row as unknown as StagedRow] as const)
    .filter(([key, { filled, conflicts }]) => agentOfStaging(key) === agent && filled && conflicts !== null);
}

/** The items of an agent that wait for a decision, in the order in which they came. */
export async function stagedItems(
  kernel: Pick<World, 'table'>,
  parent: EntityCaller,
  agent: string,
): Promise<readonly StagedItem[]> {
  const found: StagedItem[] = [];
  for (const [key, { left }] of await stagedBy(kernel, parent, agent)) {
    const staging_group_id = stagingIdOf(key);
    for (let after: string | undefined; ; ) {
      const page = await parent.use('memory_read_warm', { group: staging_group_id, ...present({ after }) });
      const { items, next, divergence = null, review = 'forced' } = page;
      const waiting = items.filter(({ item_id }) => left.includes(itemOf(item_id).id));
      found.push(...waiting.map((item) => ({ ...item, staging_group_id, divergence, review })));
      after = next;
      if (after === undefined) break;
    }
  }
  return found;
}

/** Decides on what an agent brought back, one return after the other. */
export async function reviewStaged(
  kernel: Pick<World, 'table'>,
  parent: EntityCaller,
  {
    agent,
    decision,
    by,
  }: { readonly agent: string; readonly decision: ReviewDecision; readonly by: Pick<SocietyBy, 'as'> },
): Promise<ReviewReport> {
  const rows = await stagedBy(kernel, parent, agent);
  const named = 'approve' in decision && decision.approve !== 'all' ? decision.approve : undefined;
  const isOf = (key: string) => (item: string) => stagingOfStore(itemOf(item).store) === key;
  const strange = named?.filter((item) => !rows.some(([key]) => isOf(key)(item))) ?? [];
  if (rows.length === 0 || strange.length > 0) throw nothingStaged(agent, strange);
  const report = { copied: [] as string[], rejected: [] as string[], refused: [] as ReviewReport['refused'][number][] };
  for (const [key] of rows) {
    const items = named?.filter(isOf(key));
    if (items?.length === 0) continue;
    const word = 'reject' in decision ? 'reject' : items === undefined ? 'approve' : 'partial';
    const args = { staging_group_id: stagingIdOf(key), decision: word, ...present({ items }) };
    const answer = (await parent.call('staging_review', args as Value, by)) as unknown as ReviewReport;
    for (const part of ['copied', 'rejected'] as const) report[part].push(...answer[part]);
    report.refused.push(...answer.refused);
  }
  return report;
}

function nothingStaged(agent: string, strange: readonly string[]): RepriseError {
  return new RepriseError('request_rejected', 'nothing like this waits for a decision', {
    where: agent,
    reason: 'staging_unknown',
    ...(strange.length === 0 ? {} : { actual: [...strange] }),
    hint: 'Entity.staging(agent) lists what its agent has brought back.',
  });
}
