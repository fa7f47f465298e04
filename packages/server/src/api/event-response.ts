/** Events of sessions as a stream of server-sent events. */
import type { Delta } from '@reprise/agent';
import { isRepriseError } from '@reprise/contracts';
import type { Visit } from '../door/visit.js';
import { jsonText } from '../sessions/json.js';
import { problemOf } from '../sessions/problem.js';
import { sseResponse } from '../sessions/sse.js';
import type { EventCursors } from './cursors.js';
import type { Told } from './sessions-api.js';

/** What is streamed: durable events, and live pieces of answers between them. */
type Streamed = Told | Delta;

interface StreamParts {
  readonly visit: Visit;
  readonly cursors: EventCursors;
  /** Whether a client goes on behind an event: what comes of an answer that is under way comes from its beginning. */
  readonly isResumed: boolean;
  /** Whether what ends the events is their end; else it is the end of this server. */
  readonly hasEnd: boolean;
  open(signal: AbortSignal): AsyncGenerator<Streamed>;
}

/**
 * Streams events, as fast as the client reads them. An event that is durable has its cursor as `id`; a piece of an answer
 * (`event: delta`) has none, and counts until the next event of its step. `event: end` says that nothing follows, `event: problem`
 * why nothing can.
 */
export function eventResponse(parts: StreamParts): Response {
  const text = new EventText(parts);
  return sseResponse<Streamed>({
    visit: parts.visit,
    open: (signal) => parts.open(signal),
    textOf: (one) => text.of(one),
    end: parts.hasEnd ? 'event: end\ndata: {}\n\n' : '',
    failed: lastWords,
  });
}

/**
 * What tells a client that its events cannot go on, such as those of a session whose cell has failed.
 *
 * @throws the error, when the client can go on elsewhere or is told nothing: its connection breaks
 */
async function lastWords(error: Error): Promise<string> {
  const refused = isRepriseError(error, 'world_closed') ? undefined : problemOf(error);
  if (refused === undefined) throw error;
  return `event: problem\ndata: ${await refused.text()}\n\n`;
}

/** Writes events in the lines of a stream. */
class EventText {
  /** Steps whose pieces were sent: the first piece of a step after a return says that earlier ones count no more. */
  readonly #told = new Set<string>();

  constructor(private readonly parts: Pick<StreamParts, 'cursors' | 'isResumed'>) {}

  of(one: Streamed): string {
    if (one.type !== 'delta' && one.type !== 'delta.reset')
      return `id: ${this.parts.cursors.of(one.event_seq)}\ndata: ${jsonText(one)}\n\n`;
    const isFirst = this.parts.isResumed && !this.#told.has(one.step_id);
    this.#told.add(one.step_id);
    return `event: delta\ndata: ${jsonText(isFirst ? { ...one, restart: true } : one)}\n\n`;
  }
}
