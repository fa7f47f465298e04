/** What the creator of a swarm hears of its call: that the swarm has formed, or why it has not. */
import type { ReducerContext } from '@reprise/kernel/define';
import { entityAt, type SwarmState } from '../contracts/index.js';
import { membersOf } from './swarm-context.js';

/** Answers the call that created a swarm, once. @param code why the swarm has not formed; null when it has */
export function tellCreator(draft: SwarmState, code: string | null, ctx: ReducerContext): void {
  const { call, creator } = draft;
  draft.call = null;
  if (call === null) return;
  const value = code === null ? formed(draft, ctx) : null;
  const news = { call, code, value };
  ctx.send(entityAt(creator), { name: 'society/SwarmFormed@1', value: news });
}

function formed({ group, status }: SwarmState, ctx: ReducerContext) {
  const agents = membersOf(ctx).map(([, { slot, index, agent_id }]) => ({ slot, index, agent_id }));
  return { swarm_id: ctx.address[1], group_id: group, status, agents };
}
