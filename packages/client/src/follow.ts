/**
 * Follows events over connections that break.
 *
 * Invariants
 * F1  Each durable event is given once, in the order of the journal: a new connection goes on behind the last one that was
 *     whole. A message that was cut off does not count.
 */
import { EventLines, type StreamMessage } from './event-lines.js';
import { refusedBy, refusedIn } from './refused.js';
import { isPassing, pause, type Requests } from './requests.js';
import { parseServerJson } from './server-json.js';
import type { OrganizationEvent, Piece, SessionEvent, StreamItem } from './types.js';

/** From where events are followed, and until when. */
export interface ResumeOptions {
  /** The cursor of the last event that is known; from the beginning when absent. */
  readonly after?: string;
  /** Aborting it ends the events. */
  readonly signal?: AbortSignal;
}

/** The events at a path, until it has no more or the signal aborts. @throws RequestRefused for a refusal that stays */
export async function* follow<E extends SessionEvent | OrganizationEvent = SessionEvent>(
  requests: Requests,
  path: string,
  { after, signal }: ResumeOptions,
): AsyncGenerator<StreamItem<E>> {
  let last = after;
  for (let attempt = 1; signal?.aborted !== true; attempt++) {
    const headers = new Headers({ accept: 'text/event-stream' });
    if (last !== undefined) headers.set('last-event-id', last);
    const answer = await requests.once('GET', path, { headers, signal }).catch((error: unknown) => {
      if (requests.isOfToken(error)) throw error;
      return undefined; // the connection failed
    });
    if (answer !== undefined && !answer.ok) {
      const refused = await refusedBy(answer);
      if (!isPassing(refused)) throw refused;
    } else if (answer !== undefined) {
      for await (const message of messagesOf(answer, signal)) {
        if (message.event === 'end') return;
        if (message.event === 'problem') throw refusedIn(message.data);
        const told = toldBy<E>(message);
        if (told === undefined) continue;
        attempt = 0; // what brings something is a connection that works: the next one begins at once
        if ('cursor' in told) last = told.cursor;
        yield told;
      }
    }
    await pause(attempt, answer, signal);
  }
}

/** The whole messages of an answer, until it ends or breaks. */
async function* messagesOf(answer: Response, signal: AbortSignal | undefined): AsyncGenerator<StreamMessage> {
  const reader = answer.body?.getReader();
  const lines = new EventLines();
  const leave = (): void => void reader?.cancel().catch(() => undefined);
  signal?.addEventListener('abort', leave, { once: true });
  try {
    while (reader !== undefined) {
      const read = await reader.read().catch(() => undefined); // it broke: what came before counts
      if (read === undefined || read.done) return;
      yield* lines.take(read.value);
    }
  } finally {
    signal?.removeEventListener('abort', leave);
    leave();
  }
}

function toldBy<E>({ event, id, data }: StreamMessage): StreamItem<E> | undefined {
  if (event === 'delta') return { piece: parseServerJson(data) as Piece };
  if (event === 'message' && id !== undefined) return { cursor: id, event: parseServerJson(data) as E };
  return undefined;
}
