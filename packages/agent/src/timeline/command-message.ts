/** The message of a command: the fact that accepts the command names only its id; the message is in the same frame. */
import type { EventEnvelope, InputPart, JournalRecord, Ref } from '@reprise/contracts';
import type { EventFrame } from './event-frame.js';
import type { Placed } from './placed-event.js';

/** Adds the first text of a steer or a follow-up to the event that accepts it. */
export function withMessage(placed: Placed | undefined, { records }: EventFrame): Placed | undefined {
  if (placed?.body.type !== 'command.accepted') return placed;
  const { body } = placed;
  if (body.command !== 'Steer' && body.command !== 'FollowUp') return placed;
  for (const record of records) {
    const ref = firstText(eventOf(record), body.command_id);
    if (ref !== undefined) return { ...placed, body: { ...body, ref } };
  }
  return placed;
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
