/** A message or a command to a session, in words. */
import type { ContentReader } from '@reprise/kernel';
import type { AgentEvent } from '../contracts/agent-event.js';
import type { SessionCommand } from '../contracts/commands.js';
import type { HistoryEntry, TextBounds } from './entry.js';
import type { Body } from './event-words.js';
import { messageRef, messageText, type Sent, sentBy } from './messages.js';
import { runOf } from './places.js';
import { bounded, inline, quoted, textAt } from './words.js';

/** The verb of each message. */
const SAYS = { UserInput: 'says', Steer: 'says meanwhile', FollowUp: 'says for later' } as const;

/** The entry of a message or a command. @param fate the events that state whether it was accepted */
export async function sentBody(
  sent: Sent,
  fate: readonly AgentEvent[],
  content: ContentReader,
  bounds: TextBounds,
): Promise<Body & Pick<HistoryEntry, 'run'>> {
  const run = fate.map(runOf).find((number) => number !== null) ?? null;
  const base = { run, by: sent.by, ...(sent.actor && { actor: sent.actor }) };
  const { type } = sent;
  const state = stateOf(fate);
  if (type === 'UserInput' || type === 'Steer' || type === 'FollowUp') {
    const ref = messageRef(sent.parts);
    const text = await messageText(content, sent.parts);
    const words = `${senderOf(sent)} ${SAYS[type]}${state}: ${quoted(text, bounds.said, ref)}`;
    return { ...base, kind: 'message', words, text, ...(ref === undefined ? {} : { ref }) };
  }
  const { command } = sent;
  const words = command === undefined ? type : await commandWords(command, content, bounds);
  return { ...base, kind: 'command', words: `${sentBy(sent)}${state === '' ? '' : `${state},`} ${words}` };
}

/** Who sent a message; of a parent's model, also the call. */
function senderOf(sent: Sent): string {
  const { cause } = sent;
  return cause?.kind === 'parent' ? `${sentBy(sent)} (call ${cause.call_id})` : sentBy(sent);
}

function stateOf(fate: readonly AgentEvent[]): string {
  for (const event of fate) {
    if (event.type === 'command.rejected') return ` (refused: ${event.code})`;
    if (event.type === 'input.accepted')
      return ` (run ${runOf(event)}${event.queued ? ', behind earlier messages' : ''})`;
  }
  const [accepted] = fate;
  return accepted === undefined || runOf(accepted) === null ? '' : ` (run ${runOf(accepted)})`;
}

async function commandWords(command: SessionCommand, content: ContentReader, bounds: TextBounds): Promise<string> {
  switch (command.type) {
    case 'Pause':
      return 'pauses the run';
    case 'Resume':
      return 'resumes the session';
    case 'Cancel': {
      const why = command.reason_ref === undefined ? undefined : await textAt(content, command.reason_ref);
      const what = command.scope === 'all' ? 'the run and all waiting messages' : `the ${command.scope}`;
      return `cancels ${what}${why === undefined ? '' : `: ${quoted(why, bounds.said)}`}`;
    }
    case 'Withdraw':
      return `withdraws the message ${command.command_id}`;
    case 'Spawn':
      return 'makes a child session';
    case 'Compact':
      return 'asks for a summary of the conversation so far';
    case 'Drop':
      return `takes the content sha256:${command.content} out of the conversation`;
    case 'Close':
      return 'closes the session';
    case 'Reconfigure':
      return `changes the configuration: ${bounded(inline(command.patch), bounds.data)}`;
    default:
      return command.type;
  }
}
