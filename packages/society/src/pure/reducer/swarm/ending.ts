/** How a swarm ends: its tasks, its agents and its group with it (SOC-20). */

import { type Actor, present } from '@reprise/contracts';
import { Refused } from '@reprise/org/contracts';
import { entityAt, groupAt } from '../../contracts/cell/names.js';
import type { SwarmState } from '../../contracts/swarm/swarm.js';
import { unmakeAgent } from '../rights/register.js';
import { answerUncomposed } from './collect.js';
import { changeMember, isOver, memberOr, membersOf, moveSwarm, type SwarmContext } from './context.js';
import { cancelTasks } from './tasks.js';
import { endFailedMember, tellCreator } from './workers.js';

interface SwarmEnd {
  readonly status: 'archived' | 'disbanded' | 'failed';
  /** What becomes of its group. */
  readonly mode: 'archive' | 'delete';
  /** Who ended it; absent where nobody did. */
  readonly by?: Actor;
}

/** Ends a swarm. Of one that is over, only the group is changed. */
export function endSwarm(draft: SwarmState, { status, mode, by }: SwarmEnd, ctx: SwarmContext): void {
  const wasOver = isOver(draft);
  // The group first: its agents need not hear of each other's end.
  ctx.send(groupAt(draft.group), { name: 'society/EndGroup@1', value: { mode, ...present({ actor: by }) } });
  if (!wasOver) {
    ctx.cancel('all');
    cancelTasks(draft, ctx);
    for (const [key] of membersOf(ctx)) endMember(draft, key, ctx);
  }
  moveSwarm(draft, status, ctx, by);
  if (!wasOver) answerUncomposed(draft, ctx);
  tellCreator(draft, new Refused('swarm_over'), ctx); // one that ends while it forms
}

/** An agent that has not begun is taken back, as if it had never been; one that has is told. */
function endMember(draft: SwarmState, key: string, ctx: SwarmContext): void {
  const { agent_id, phase } = memberOr(ctx, key);
  if (agent_id === null || phase === 'ended') return;
  const hasBegun = phase === 'begun' || phase === 'joined';
  changeMember(ctx, key, { phase: 'ended', task: null, agent_id: hasBegun ? agent_id : null });
  if (hasBegun && endFailedMember(draft, agent_id, ctx)) return;
  if (hasBegun) ctx.send(entityAt(agent_id), { name: 'society/SwarmOver@1', value: {} });
  else unmakeAgent(ctx, agent_id);
}
