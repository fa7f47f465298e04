/** Who acts on a project, as facts. */
import type { Actor } from '@reprise/contracts';
import { actorIn, type WaitingCall } from '@reprise/org/contracts';
import type { ProjectFact } from '../../contracts/index.js';
import type { Delivery } from './delivery.js';

type Act = Omit<ProjectFact<'specialists/Acted@1'>, 'by'>;

/** States an act of the sender of a command. A refusal of the command takes it back. @returns who acts */
export function acted({ ctx }: Delivery, act: Act): Actor {
  const by = actorIn(ctx);
  state(ctx, act, by);
  return by;
}

/** The agent that makes a call, as an actor: its id is the key of its cell. */
export function agentOf({ to }: WaitingCall): Actor {
  return { kind: 'node', id: to[1] };
}

/** States what the call of an agent has done. */
export function agentActed({ ctx }: Delivery, call: WaitingCall, act: Act): void {
  state(ctx, act, agentOf(call));
}

function state(ctx: Delivery['ctx'], { reason, ...act }: Act, by: Actor): void {
  const said = reason === undefined || reason.trim() === '' ? {} : { reason };
  ctx.record('specialists/Acted@1', { ...act, ...said, by });
}
