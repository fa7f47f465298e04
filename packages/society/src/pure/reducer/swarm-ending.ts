/** How a swarm ends: its tasks, its agents and its group with it (SOC-20). */
import type { ReducerContext } from '@reprise/kernel/define';
import { entityAt, groupAt, type SwarmState } from '../contracts/index.js';
import { changeMember, isOver, membersOf, moveSwarm } from './swarm-context.js';
import { cancelTasks } from './swarm-tasks.js';

/** How a swarm ends. */
interface SwarmEnd {
  readonly status: 'archived' | 'disbanded' | 'failed';
  /** What becomes of its group. */
  readonly mode: 'archive' | 'delete';
}

/** Ends a swarm. Of one that is over, only the group is changed. */
export function endSwarm(draft: SwarmState, { status, mode }: SwarmEnd, ctx: ReducerContext): void {
  const wasOver = isOver(draft);
  // The group first: its agents need not hear of each other's end.
  ctx.send(groupAt(draft.group), { name: 'society/EndGroup@1', value: { mode } });
  if (!wasOver) {
    ctx.cancel('all');
    cancelTasks(draft, ctx);
    for (const [key, { agent_id, phase }] of membersOf(ctx)) {
      if (agent_id === null || phase === 'ended') continue;
      changeMember(ctx, key, { phase: 'ended', task: null });
      ctx.send(entityAt(agent_id), { name: 'society/SwarmOver@1', value: {} });
    }
  }
  moveSwarm(draft, status, ctx);
}
