/** What the creator of a swarm knows of its agents: it lists them like its own (SOC-88). */
import type { ReducerContext } from '@reprise/kernel/define';
import { entityAt, type SwarmMember, type SwarmState } from '../contracts/index.js';
import { slotOf, slotsOf } from './swarm-context.js';

/** The name of an agent of a swarm. */
export function workerName({ slot, index }: Pick<SwarmMember, 'slot' | 'index'>, ctx: ReducerContext): string {
  return `${slot} ${index} of ${ctx.address[1]}`.slice(0, 120);
}

/** Tells the creator of an agent that has begun, or has changed. */
export function tellWorker(draft: SwarmState, key: string, member: SwarmMember, ctx: ReducerContext): void {
  const { agent_id, public_key, key_ref, created_at, status, expires_at, grace_until } = member;
  const agent_type = slotsOf(ctx)[slotOf(key)]?.agent_type;
  if (agent_id === null || agent_type === undefined) return;
  const display_name = workerName(member, ctx);
  const entry = { agent_type, display_name, created_at, public_key, key_ref, status, expires_at, grace_until };
  ctx.send(entityAt(draft.creator), { name: 'society/Worker@1', value: { agent_id, entry } });
}
