/** What agents brought back, as their parent reads it and decides on it. */
import { present, RepriseError } from '@reprise/contracts';
import type { World } from '@reprise/kernel';
import { CellReader, type CellSource } from '@reprise/org';
import {
  agentOfStaging,
  type EntityState,
  type entityTables,
  IDENTITY_BOUNDS,
  itemOf,
  type Row,
  stagingIdOf,
  stagingOfStore,
} from '../pure/index.js';
import { reviewOf } from '../pure/reducer/context/staged.js';
import type { ToolAnswer } from '../wire/index.js';
import type { EntityCaller } from './caller.js';
import type { ReadMemory } from './entity-memory.js';
import { type By, callIdOf } from './requests.js';

/** An item that an agent brought back, and that waits for a decision. */
export interface StagedItem extends ReadMemory {
  /** What it was brought back with: the argument of `staging_review`. */
  readonly staging_group_id: string;
  /** Sessions of the agent since the last state that both sides know; null for a base that this world does not know. */
  readonly divergence: number | null;
  /** `forced` above 5 sessions, and for an unknown base: such a return is approved by naming its items. */
  readonly review: 'usual' | 'forced';
}

/** A decision: all items or some of them are approved, which rejects the others; or all are rejected. */
export type ReviewDecision = { readonly approve: 'all' | readonly string[] } | { readonly reject: true };

/** What came of a decision: ids of copies in their groups, of rejected items, and of those that could not be written. */
export type ReviewReport = Omit<ToolAnswer<'staging_review'>, 'staging_group_id'>;

/** What waits for a decision of an entity about an agent. */
async function stagedBy(
  kernel: CellSource,
  { address }: Pick<EntityCaller, 'address'>,
  agent: string,
): Promise<readonly (readonly [key: string, row: Row<'staged'>])[]> {
  const cell = new CellReader<EntityState, typeof entityTables>(kernel, address);
  const rows = await cell.rows('staged', { limit: IDENTITY_BOUNDS.staged });
  return rows.filter(([key, { filled, conflicts }]) => agentOfStaging(key) === agent && filled && conflicts !== null);
}

/** The items of an agent that wait for a decision, in the order in which they came. */
export async function stagedItems(
  kernel: CellSource,
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

/** Decides on what an agent brought back, one return after the other; once for each id. */
export async function reviewStaged(
  kernel: CellSource & Pick<World, 'at'>,
  parent: EntityCaller,
  agent: string,
  decision: ReviewDecision,
  { id, ...by }: By,
): Promise<ReviewReport> {
  const waiting = id === undefined ? kernel : await kernel.at(await asked(parent, agent, { ...by, id }));
  const rows = await stagedBy(waiting, parent, agent);
  const named = 'approve' in decision && decision.approve !== 'all' ? decision.approve : undefined;
  const isOf = (key: string) => (item: string) => stagingOfStore(itemOf(item).store) === key;
  const strange = named?.filter((item) => !rows.some(([key]) => isOf(key)(item))) ?? [];
  if (rows.length === 0 || strange.length > 0) throw refused(agent, notStaged, strange);
  const forced = rows.filter(([, row]) => reviewOf(row) === 'forced').map(([key]) => stagingIdOf(key));
  if (!('reject' in decision) && named === undefined && forced.length > 0) throw refused(agent, itemsNotNamed, forced);
  const report = { copied: [] as string[], rejected: [] as string[], refused: [] as ReviewReport['refused'][number][] };
  for (const [key] of rows) {
    const items = named?.filter(isOf(key));
    if (items?.length === 0) continue;
    const word = 'reject' in decision ? 'reject' : items === undefined ? 'approve' : 'partial';
    const args = { staging_group_id: stagingIdOf(key), decision: word, ...present({ items }) } as const;
    const own = { ...by, ...present({ id: id === undefined ? undefined : callIdOf([id, key]) }) };
    const answer = await parent.use('staging_review', args, own);
    for (const part of ['copied', 'rejected'] as const) report[part].push(...answer[part]);
    report.refused.push(...answer.refused);
  }
  return report;
}

/** The frame in which a review was asked for first: what waited then is what it decides on, however often it is sent. */
async function asked(parent: EntityCaller, agent: string, by: By): Promise<number> {
  const { seq } = await parent.answered('agent_capabilities', { agent_id: agent }, by);
  return seq;
}

const notStaged = {
  reason: 'staging_unknown',
  what: 'nothing like this waits for a decision',
  hint: 'Entity.staging(agent) lists what its agent has brought back.',
} as const;

const itemsNotNamed = {
  reason: 'review_forced',
  what: 'items of a forced review are approved by their names',
  hint: 'Read Entity.staging(agent), and name the items that you approve; or reject.',
} as const;

function refused(
  agent: string,
  { what, ...because }: typeof notStaged | typeof itemsNotNamed,
  actual: readonly string[],
): RepriseError {
  const found = actual.length === 0 ? {} : { actual: [...actual] };
  return new RepriseError('request_rejected', what, { where: agent, ...because, ...found });
}
