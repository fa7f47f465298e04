/**
 * What the request behind a message or a command says of it: the fact that accepts it names only its id. The first text
 * of a steer or a follow-up, and who sent it from outside, are in the same frame.
 */
import {
  type Actor,
  actorOf,
  type EventEnvelope,
  type InputPart,
  type JournalRecord,
  type Principal,
  type Ref,
} from '@reprise/contracts';
import { SESSION_REDUCER } from '../contracts/session.js';
import type { EventFrame } from './event-frame.js';
import type { Placed } from './placed-event.js';

/** Adds the sender of a message or a command to the event that accepts it, and the first text of a steer or a follow-up. */
export function withMessage(placed: Placed | undefined, frame: EventFrame): Placed | undefined {
  if (placed === undefined) return placed;
  const { session, body } = placed;
  if (body.type !== 'input.accepted' && body.type !== 'command.accepted') return placed;
  const who = senderOf(frame.records[0], session, body.command_id);
  const said = who === undefined ? {} : { actor: who };
  const ref = body.type === 'command.accepted' ? textOf(frame, body) : undefined;
  return { ...placed, body: { ...body, ...said, ...(ref === undefined ? {} : { ref }) } as typeof body };
}

/** Who sent a message from outside; undefined when the request of this frame is another one, or a cell sent it. */
function senderOf(ingress: JournalRecord | undefined, session: string, id: string): Actor | undefined {
  if (ingress?.kind !== 'request' || ingress.to[0] !== SESSION_REDUCER || ingress.to[1] !== session) return undefined;
  // The reducer's own schema checked the event before it was accepted.
  const { command_id, input, next } = ingress.event.value as {
    readonly command_id?: string;
    readonly input?: { readonly command_id: string };
    readonly next?: { readonly value: { readonly command_id?: string } };
  };
  if (![command_id, input?.command_id, next?.value.command_id].includes(id)) return undefined;
  return actorOf(ingress.principal as Principal, ingress.actor);
}

function textOf(
  { records }: EventFrame,
  { command, command_id }: { command: string; command_id: string },
): Ref | undefined {
  if (command !== 'Steer' && command !== 'FollowUp') return undefined;
  for (const record of records) {
    const ref = firstText(eventOf(record), command_id);
    if (ref !== undefined) return ref;
  }
  return undefined;
}

function eventOf(record: JournalRecord): EventEnvelope | undefined {
  return record.kind === 'request' || record.kind === 'event' ? record.event : undefined;
}

function firstText(event: EventEnvelope | undefined, id: string): Ref | undefined {
  if (event?.name !== 'aos.agent/HostCommand@1') return undefined;
  // The reducer's own schema checked the command before it was accepted.
  const said = event.value as unknown as {
    readonly command_id: string;
    readonly command: { readonly parts?: readonly InputPart[] };
  };
  if (said.command_id !== id) return undefined;
  return said.command.parts?.find((part) => part.kind === 'text')?.text_ref;
}
