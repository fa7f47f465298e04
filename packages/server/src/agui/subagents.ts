/**
 * The sessions below a thread as subagents.
 *
 * Invariants
 * B1  Each subagent that begins in a stream ends in it, and its id names one task of it: a session that is given another task
 *     has another id.
 */
import type { AgentEvent, AgentEventOf } from '@reprise/agent';
import type { AgUiEvent } from './events.js';

interface Subagent {
  readonly id: string;
  readonly name: string;
  readonly parent: string;
  /** How many tasks the session was given. */
  readonly task: number;
  readonly works: boolean;
}

/** The subagents of one stream. */
export class Subagents {
  readonly #known = new Map<string, Subagent>();

  constructor(private readonly root: string) {}

  /** The id of a session's subagent. */
  readonly idOf = (session: string): string | undefined => this.#known.get(session)?.id;

  /** The events that an event of a session becomes. */
  *take(event: AgentEvent): Generator<AgUiEvent> {
    if (event.type === 'child.spawned') yield* this.#begin(event);
    if (event.type === 'child.ended') yield* this.#end(event);
    if (event.type === 'child.changed' && event.status === 'running' && !this.#works(event.session))
      yield* this.#begin(event);
    if (event.type === 'child.changed' && event.status === 'closed' && this.#works(event.session))
      yield* this.#fail(event.session, 'cancelled', 'The subagent was closed.', event.at);
  }

  /** Says again what works already, when a stream begins. */
  *open(): Generator<AgUiEvent> {
    for (const one of this.#known.values()) if (one.works) yield this.#started(one);
  }

  /** Ends what still works when a stream ends. @param interrupts what each session waits for */
  *suspend(interrupts: ReadonlyMap<string, readonly string[]>): Generator<AgUiEvent> {
    const working = [...this.#known].filter(([, { works }]) => works).toReversed();
    for (const [session, { id: subagentRunId }] of working) {
      const interruptIds = interrupts.get(session) ?? [];
      yield { type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'suspended', interruptIds } };
    }
  }

  #works(session: string): boolean {
    return this.#known.get(session)?.works === true;
  }

  *#begin({
    session,
    agent: name,
    session_id: parent,
    at,
  }: AgentEventOf<'child.spawned'> | AgentEventOf<'child.changed'>) {
    const task = (this.#known.get(session)?.task ?? 0) + 1;
    const id = task === 1 ? session : `${session}~${task}`; // B1
    const one: Subagent = { id, name, parent, task, works: true };
    this.#known.set(session, one);
    yield { ...this.#started(one), timestamp: at };
  }

  *#end({ session, status, text, at }: AgentEventOf<'child.ended'>): Generator<AgUiEvent> {
    if (!this.#works(session)) return;
    if (status !== 'completed') return yield* this.#fail(session, status, `The subagent ${status}.`, at);
    const { id: subagentRunId } = this.#over(session);
    const result = text === undefined ? {} : { result: text };
    yield { type: 'SUBAGENT_FINISHED', timestamp: at, subagentRunId, ...result, outcome: { type: 'success' } };
  }

  *#fail(session: string, code: string, message: string, timestamp: number): Generator<AgUiEvent> {
    yield { type: 'SUBAGENT_ERROR', timestamp, subagentRunId: this.#over(session).id, code, message };
  }

  #over(session: string): Subagent {
    const one = { ...(this.#known.get(session) as Subagent), works: false };
    this.#known.set(session, one);
    return one;
  }

  #started({ id: subagentRunId, name, parent }: Subagent): AgUiEvent & { readonly type: 'SUBAGENT_STARTED' } {
    const above = parent === this.root ? undefined : this.idOf(parent);
    return {
      type: 'SUBAGENT_STARTED',
      subagentRunId,
      name,
      ...(above === undefined ? {} : { parentSubagentRunId: above }),
    };
  }
}
