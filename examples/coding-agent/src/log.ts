/** The history of a session, read from its runs. */
import type { AgentEvent, AgentWorld, Session } from 'reprise';

/** A message of the user, and its result. */
export interface Message {
  /** Its number, from 1. */
  readonly number: number;
  /** The frame that accepted the message. */
  readonly frame: number;
  readonly text: string;
  /** How its run ended; undefined while it is in progress. */
  readonly end: string | undefined;
}

/** The messages of a session, oldest first. */
export async function messagesOf(session: Session<string>): Promise<readonly Message[]> {
  const messages = new Map<string, Message>();
  for (const event of await eventsOf(session)) {
    const { run_id } = event;
    if (run_id === null) continue;
    const known = messages.get(run_id);
    if (event.type === 'input.accepted' && known === undefined) {
      const number = messages.size + 1;
      messages.set(run_id, { number, frame: frameOf(event), text: event.text ?? '', end: undefined });
    }
    if (event.type === 'lifecycle' && event.stop !== undefined && known !== undefined) {
      messages.set(run_id, { ...known, end: event.stop.kind });
    }
  }
  return [...messages.values()];
}

/** The messages sent to runs in progress, in the order in which the model read them. */
export async function steersOf(session: Session<string>, { kernel }: AgentWorld): Promise<readonly string[]> {
  const said: string[] = [];
  for await (const item of session.transcript()) {
    if (item.role !== 'user' || item.origin !== 'steer') continue;
    const texts = item.parts.map(async (part) => {
      const bytes = part.kind === 'text' ? await kernel.content.get(part.text_ref) : undefined;
      return bytes === undefined ? '' : new TextDecoder().decode(bytes);
    });
    said.push((await Promise.all(texts)).join(' '));
  }
  return said;
}

/** All events of a session up to now. */
export async function eventsOf(session: Session<string>): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of session.events({ follow: false, inline: INLINE_BYTES })) events.push(event);
  return events;
}

const INLINE_BYTES = 65_536;

/** The number of an event's frame. */
export function frameOf({ event_seq }: Pick<AgentEvent, 'event_seq'>): number {
  return Number(event_seq.split('.')[0]);
}
