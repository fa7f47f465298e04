/** What a session has done, read from its runs. */
import type { AgentEvent, Session } from 'reprise';

/** A message of the person, and what came of it. */
export interface Message {
  /** Counted from 1. */
  readonly number: number;
  /** The frame that accepted it. */
  readonly frame: number;
  readonly text: string;
  /** How its run ended; undefined while it has not. */
  readonly end: string | undefined;
}

/** The messages of a session, the first one first. */
export async function messagesOf(session: Session<string>): Promise<readonly Message[]> {
  const state = await session.state();
  const messages: Message[] = [];
  for await (const run of session.runs()) {
    const message = { number: run.number + 1, frame: 0, text: '' };
    for await (const event of run.events()) {
      if (event.type !== 'input.accepted') continue;
      Object.assign(message, { frame: frameOf(event), text: event.text ?? '' });
      break;
    }
    const isOpen = state?.run?.number === run.number || (state?.runs ?? 0) <= run.number;
    messages.push({ ...message, end: isOpen ? undefined : (await run.result()).stop.kind });
  }
  return messages;
}

/** Everything that has happened in a session, up to now. */
export async function eventsOf(session: Session<string>): Promise<readonly AgentEvent[]> {
  const state = await session.state();
  const events: AgentEvent[] = [];
  for await (const run of session.runs()) {
    // What is not over has no end to wait for: it is read for a moment.
    const isOver = state?.run?.number !== run.number;
    const signal = isOver ? {} : { signal: AbortSignal.timeout(OPEN_RUN_MS) };
    for await (const event of run.events({ inline: INLINE_BYTES, ...signal })) events.push(event);
  }
  return events;
}

const OPEN_RUN_MS = 500;
const INLINE_BYTES = 65_536;

/** The frame of an event. */
export function frameOf({ event_seq }: Pick<AgentEvent, 'event_seq'>): number {
  return Number(event_seq.split('.')[0]);
}
