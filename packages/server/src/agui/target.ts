/** Which part of a session's events a stream tells: from what a client did, until the session comes to rest. */
import type { AgentEvent } from '@reprise/agent';
import { idsOf } from './items.js';

/** What a client did, as events show it. */
export type Target = { readonly input: string } | { readonly items: readonly string[] };

/** Recognizes the event at which the part of a target begins. Events are shown to it in their order. */
export class Beginning {
  /** The run that a message was announced for. */
  #run: string | null = null;

  constructor(
    private readonly target: Target,
    private readonly session: string,
  ) {}

  isAt(event: AgentEvent): boolean {
    const { target } = this;
    if ('items' in target)
      return event.type === 'human.resolved' && idsOf(event).some((id) => target.items.includes(id));
    if (event.session_id !== this.session) return false;
    if (event.type === 'input.accepted' && event.command_id === target.input) this.#run = event.run_id;
    if (event.type === 'turn.started' || event.type === 'input.dropped') return event.command_id === target.input;
    return event.type === 'lifecycle' && event.from === 'Queued' && event.run_id === this.#run;
  }
}

/**
 * The place of the first event of a target's part; negative when it is not there. A message that was tried again begins with
 * its last turn.
 */
export function beginsAt(target: Target, session: string, events: readonly AgentEvent[]): number {
  const beginning = new Beginning(target, session);
  const places = events.flatMap((event, place) => (beginning.isAt(event) ? [place] : []));
  return ('input' in target ? places.at(-1) : places[0]) ?? -1;
}

/** The ids of the messages that a session has taken, and of those of them that have a turn or wait for one. */
export function inputsIn(
  events: readonly AgentEvent[],
  session: string,
): { readonly taken: readonly string[]; readonly begun: readonly string[] } {
  const own = events.filter(({ session_id }) => session_id === session);
  const named = (types: readonly string[]) =>
    own.flatMap((event) =>
      types.includes(event.type) && 'command_id' in event && event.command_id !== undefined ? [event.command_id] : [],
    );
  return {
    taken: named(['input.accepted', 'command.accepted']),
    begun: named(['input.accepted', 'turn.started']),
  };
}
