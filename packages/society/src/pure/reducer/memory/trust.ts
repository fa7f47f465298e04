/**
 * Trust of this entity in agents: its own verdicts on their items, and no other's.
 *
 * Invariants
 * T1  One verdict of this entity counts for each item; a changed one is counted anew, as the last.
 * T2  The last 256 verdicts on an agent count.
 * T3  The author of an item, those below it, and who made it by a swarm give no verdict that counts.
 * T4  A changed tier changes rights in the delivery of the verdict.
 */

import { posteriorPpm, TRUST_WINDOW, tierOf, type Verdicts } from '../../compile/tiers.js';
import { authorOf, entityAt, entityOfAuthor, groupOfStore, type Tier } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import type { Row, SocietyCallOf } from '../../contracts/entity-parts.js';
import type { MemoryAct, MemoryEnded } from '../../contracts/memory/acts.js';
import { itemOf } from '../../contracts/memory/tools.js';
import { memoryPlan } from '../../plans/memory.js';
import { actorOfCall, startForCall } from '../call/answers.js';
import { type Answer, deny, type OperationsOf, refuse } from '../call/operations.js';
import { type EntityContext, idOf } from '../context/entity.js';
import { tellGroup } from '../group/told-groups.js';
import { notice } from '../inbox/inbox.js';
import { mayAsk } from '../rights/may-ask.js';

/** `memory_assess`. The item is read first: its author is who is judged. */
export const trustOperations: OperationsOf<'memory_assess'> = {
  memory_assess: (draft, { item_id }, call, ctx) => {
    if (!mayAsk(draft, itemOf(item_id).store, ctx)) return deny('visibility');
    return startForCall(ctx, call, memoryPlan, { call, act: judging(draft, item_id, ctx) });
  },
};

/** Reads an item, and how this entity stands to its author. */
export function judging(draft: EntityState, item_id: string, ctx: EntityContext): MemoryAct {
  return { act: 'judge', ...itemOf(item_id), judge: idOf(ctx), parent: draft.parent_entity_id };
}

function verdictsOn(agent: string, ctx: EntityContext): Row<'trust'> {
  return ctx.table('trust').get(agent) ?? UNJUDGED;
}

/** The item of a verdict was read: the verdict counts, or is refused. */
export function assess(
  { item_id, verdict, basis, evidence_ref }: SocietyCallOf<'memory_assess'>,
  { items: [item], standing }: MemoryEnded,
  call: string,
  ctx: EntityContext,
): Answer {
  const agent = item === undefined ? undefined : entityOfAuthor(authorOf(item));
  if (agent === undefined) return refuse('no_agent');
  if (standing !== 'other') refuse('not_authorized', { standing });
  const before = verdictsOn(agent, ctx);
  const digest = ctx.hash(item_id).slice(0, 16);
  const known = before.verdicts.find(([one]) => one === digest);
  const isSame = verdict === 'retract' ? known === undefined : known?.[1] === (verdict === 'right');
  if (isSame) return shown(agent, before, ctx);
  const others = before.verdicts.filter(([one]) => one !== digest);
  const added: Row<'trust'>['verdicts'] = verdict === 'retract' ? [] : [[digest, verdict === 'right', ctx.now]];
  const after: Row<'trust'> = { verdicts: [...others, ...added].slice(-TRUST_WINDOW), updated_at: ctx.now };
  ctx.table('trust').set(agent, after);
  const by = actorOfCall(call, ctx);
  const rests = { basis, evidence_ref: evidence_ref ?? null };
  ctx.record('society/Assessed@1', { item_id, agent_id: agent, verdict, ...rests, by });
  scored({ agent, before, after, store: itemOf(item_id).store }, ctx);
  return shown(agent, after, ctx);
}

/** The tier that the verdicts of this entity alone give an agent. */
export function tierByVerdicts(agent: string, ctx: EntityContext): Tier {
  return tierOf(countsIn(verdictsOn(agent, ctx)));
}

interface Scored {
  readonly agent: string;
  readonly before: Row<'trust'>;
  readonly after: Row<'trust'>;
  readonly store: string;
}

/** Tells of the new score: the observer, the agent, and those whose rights follow from it. */
function scored({ agent, before, after, store }: Scored, ctx: EntityContext): void {
  const [old, now] = [countsIn(before), countsIn(after)];
  const tier = tierOf(now);
  const [old_ppm, ppm] = [posteriorPpm(old), posteriorPpm(now)];
  ctx.record('society/TrustChanged@1', { agent_id: agent, old_ppm, ppm, tier, observations: now.all });
  const payload = { agent_id: agent, old_score: old_ppm, new_score: ppm };
  notice({ event: 'trust.score_changed', payload, push: true, group: null, agent }, ctx);
  const isChild = ctx.table('children').get(agent) !== undefined;
  if (isChild) {
    const value = { event: 'trust.score_changed', group: null, payload };
    ctx.send(entityAt(agent), { name: 'society/Notice@1', value });
    if (tier !== tierOf(old)) ctx.send(entityAt(agent), { name: 'society/Tier@1', value: { tier } });
  }
  const group = groupOfStore(store);
  if (group !== undefined && ctx.table('memberships').get(group) !== undefined)
    tellGroup(group, ['verdict', agent, old_ppm, ppm, tier, isChild], ctx);
}

function countsIn({ verdicts }: Row<'trust'>): Verdicts {
  return { right: verdicts.filter(([, right]) => right).length, all: verdicts.length };
}

function shown(agent_id: string, row: Row<'trust'>, ctx: EntityContext): Answer {
  return { value: scoreOf(idOf(ctx), agent_id, row) };
}

/**
 * The score of an agent for an observer, as answers show it: in millionths, and times in milliseconds.
 *
 * @param row the verdicts of the observer; without any the score is the prior
 */
export function scoreOf(observer_entity_id: string, agent_id: string, row: Row<'trust'>) {
  const counts = countsIn(row);
  const { right, all } = counts;
  return {
    agent_id,
    observer_entity_id,
    accuracy_ppm: all === 0 ? null : Math.floor((2_000_000 * right + all) / (2 * all)),
    score_ppm: posteriorPpm(counts),
    observations: all,
    window_start: row.verdicts[0]?.[2] ?? null,
    window_end: row.verdicts.at(-1)?.[2] ?? null,
    last_updated: row.updated_at === NEVER ? null : row.updated_at,
    tier: tierOf(counts),
  };
}

const NEVER = 0;

/** What stands for an agent without a verdict. */
export const UNJUDGED: Row<'trust'> = { verdicts: [], updated_at: NEVER };
