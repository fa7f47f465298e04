/** The messages of a session so far, for a page that is loaded again. */
import type { AgentEvent, Session } from '@reprise/agent';
import { MessageFold, type UiMessage } from './message.js';
import { type ChunkOptions, RunChunks } from './run-chunks.js';
import { UI_INLINE_BYTES_MAX } from './stream.js';

/** One input, and the run that it led to. */
interface Exchange {
  readonly said: UiMessage;
  readonly chunks: RunChunks;
  readonly fold: MessageFold;
  hasBegun: boolean;
}

/**
 * What was said in a session so far, as messages of a chat page: each input under the id that it was sent with, and what
 * its run came to under the run's id. A run that is under way is there as far as it is; resuming its stream replaces it.
 *
 * @example useChat({ messages, resume: true })
 */
export async function uiMessages(
  session: Pick<Session, 'events'>,
  options: ChunkOptions = {},
): Promise<readonly UiMessage[]> {
  const exchanges = new Map<string, Exchange>();
  let current: Exchange | undefined;
  const events = session.events({ follow: false, inline: UI_INLINE_BYTES_MAX, channel: 'model' });
  for await (const event of events) {
    const known = event.run_id === null ? current : exchangeOf(exchanges, event, event.run_id, options);
    if (known === undefined) continue;
    if (event.run_id !== null && event.type !== 'input.accepted') current = known;
    for (const chunk of known.chunks.take(event)) {
      known.fold.take(chunk);
      // What waits its turn has said nothing yet.
      known.hasBegun ||= chunk.type !== 'start';
    }
  }
  return [...exchanges.values()].flatMap(({ said, fold, hasBegun }) => (hasBegun ? [said, fold.message] : [said]));
}

function exchangeOf(
  exchanges: Map<string, Exchange>,
  event: AgentEvent,
  run: string,
  options: ChunkOptions,
): Exchange | undefined {
  const known = exchanges.get(run);
  if (known !== undefined || event.type !== 'input.accepted') return known;
  const said: UiMessage = { id: event.command_id, role: 'user', parts: [{ type: 'text', text: event.text ?? '' }] };
  const made = { said, chunks: new RunChunks(run, options), fold: new MessageFold(run), hasBegun: false };
  exchanges.set(run, made);
  return made;
}
