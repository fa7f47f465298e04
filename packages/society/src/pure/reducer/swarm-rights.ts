/** Rights of a swarm's agents: the swarm made them, so it sets what they compile. */
import type { ReducerContext } from '@reprise/kernel/define';
import { type Compiled, entityAt, type SwarmState } from '../contracts/index.js';
import { rowKeyOf } from './caller.js';
import { setCompiled } from './rights.js';

/** Sets the rights that a member has compiled. */
export function setMemberRights({ account }: SwarmState, compiled: Compiled, ctx: ReducerContext): void {
  setCompiled({ agent_id: rowKeyOf(ctx), payer: account }, compiled, ctx);
}

/** Tells a member whether its rights stand. */
export function tellRights(
  agent_id: string,
  answer: { readonly ask: number; readonly code: string | null },
  ctx: ReducerContext,
): void {
  ctx.send(entityAt(agent_id), { name: 'society/RightsStand@1', value: answer });
}
