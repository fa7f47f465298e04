/**
 * What entities below hear of this one, and how its swarms hear it: however many there are, some in one delivery, the others
 * behind it and before any other input.
 */

import { beginRound, someRows } from '@reprise/org/contracts';
import { swarmAt } from '../../contracts/cell/names.js';
import type { EntityState } from '../../contracts/entity/entity.js';
import { refusedTo } from '../call/replies.js';
import { type EntityContext, idOf } from '../context/entity.js';
import { handedOnBy, setSwarmRights } from '../rights/rights.js';

/** Whether agents below may act: a person always lets them. */
export function letsAct({ kind, status }: EntityState): boolean {
  return kind === 'person' || status === 'active' || status === 'registered';
}

/** What agents below hear at changes: what this entity may hand on, and whether it lets them act. */
export const TOLD_BELOW = ['above', 'status'] as const;

/** An event about this entity, for an agent below or a swarm. */
export function toldBelow(draft: EntityState, what: (typeof TOLD_BELOW)[number], ctx: EntityContext) {
  if (what === 'above') return { name: 'society/Above@1', value: handedOnBy(draft, ctx) };
  const removed = draft.orphaned || draft.status === 'removed';
  const value = { active: letsAct(draft), removed, by: idOf(ctx), depth: draft.depth };
  return { name: 'society/ParentStatus@1', value };
}

/** What swarms hear: what agents hear, that their creator has ended, or all of it again; or the end of a failed agent. */
type SwarmNews = 'above' | 'status' | 'over' | 'again' | `ended ${string}`;

/** Tells every swarm of this entity something. A swarm passes on to its agents what it hears. */
export function tellSwarms(draft: EntityState, news: SwarmNews, ctx: EntityContext): void {
  beginRound(ctx, `swarms ${news}`, (after) => tellSomeSwarms(draft, news, after, ctx));
}

export function tellSomeSwarms(
  draft: EntityState,
  news: string,
  after: string,
  ctx: EntityContext,
): string | undefined {
  return someRows(ctx.table('swarms'), { after }, (swarm) => tell(draft, swarm, news, ctx));
}

function tell(draft: EntityState, swarm: string, news: string, ctx: EntityContext): void {
  const [of, agent_id = ''] = news.split(' ');
  switch (of) {
    case 'above':
      setSwarmRights(draft, swarm, ctx);
      return send(swarm, toldBelow(draft, of, ctx), ctx);
    case 'status':
      return send(swarm, toldBelow(draft, of, ctx), ctx);
    case 'over':
      return send(swarm, { name: 'society/CreatorOver@1', value: {} }, ctx);
    case 'ended':
      return ctx.send(swarmAt(swarm), { name: 'society/FailedEnded@1', value: { agent_id } });
    default:
      return tellSwarmAgain(draft, swarm, ctx);
  }
}

/** One that was taken back hears nothing. */
function send(swarm: string, event: { readonly name: string; readonly value: object }, ctx: EntityContext): void {
  ctx.send(swarmAt(swarm), event, refusedTo('swarm-gone', swarm));
}

/** Tells a swarm again all that it was told: this entity or the swarm was revived. It ends with its creator. */
export function tellSwarmAgain(draft: EntityState, swarm: string, ctx: EntityContext): void {
  setSwarmRights(draft, swarm, ctx);
  for (const what of TOLD_BELOW) ctx.send(swarmAt(swarm), toldBelow(draft, what, ctx));
  if (draft.status === 'deactivated' || draft.status === 'removed')
    ctx.send(swarmAt(swarm), { name: 'society/CreatorOver@1', value: {} });
}
