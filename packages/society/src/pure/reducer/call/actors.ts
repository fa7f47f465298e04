/**
 * Who acts in the name of an entity. An entity is who stands for an act; the actor is who performed it: a person, a program
 * or a rule that uses the entity's handle or token, or a model in one of its sessions.
 */

import type { Actor } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import { actorIn } from '@reprise/org/contracts';
import type { CallOrigin } from '../../contracts/index.js';
import type { EntityContext } from '../context/entity.js';
import { openCall } from './answers.js';

/** Who made a call: the sender of its request, the session of a model, or who called the entity above that asks. */
export function actorOfOrigin(origin: CallOrigin): Actor {
  return origin.kind === 'owner' ? { kind: 'node', id: origin.session } : origin.actor;
}

/** Who made an open call. What no call asked for, the entity does by its own rules. */
export function actorOfCall(call: string | null, ctx: EntityContext): Actor {
  const origin = call === null ? undefined : openCall(call, ctx)?.origin;
  return origin === undefined ? OWN_RULE : actorOfOrigin(origin);
}

/** What takes over the items of a return by itself. */
const OWN_RULE: Actor = { kind: 'rule', id: 'society/automatic_merge', granted_by: null };

/** Who sent a command to a group or a swarm. A cell may name for whom it sends; from outside nobody is believed. */
export function commander(stated: Actor | undefined, ctx: ReducerContext): Actor {
  return ctx.caller !== null && stated !== undefined ? stated : actorIn(ctx);
}
