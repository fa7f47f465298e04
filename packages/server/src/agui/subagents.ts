/**
 * The sessions below a thread as subagents.
 *
 * Invariants
 * B1  Each subagent that begins in a stream ends in it, once, and its id names one task of it: a session that is given another task
 *     has another id.
 */
import type { AgentEvent } from '@reprise/agent';
import type { AgUiEvent } from './events.js';

/** One task of a session. */
interface Task {
  readonly id: string;
  readonly session: string;
  readonly name: string;
  /** The session that gave it. */
  readonly parent: string;
  readonly end?: { readonly status: string; readonly text?: string };
}

/** The subagents of one stream. */
export class Subagents {
  /** The last task of each session. */
  readonly #last = new Map<string, Task>();
  readonly #tasks = new Map<string, Task>();
  /** The ids of those that a stream told of, and not of their end. */
  readonly #told = new Set<string>();

  constructor(private readonly root: string) {}

  /** The id of a session's subagent. */
  readonly idOf = (session: string): string | undefined => this.#last.get(session)?.id;

  take(event: AgentEvent): void {
    if (event.type === 'child.spawned') this.#begin(event.session, event.agent, event.session_id);
    if (event.type === 'child.ended') this.#end(event.session, event);
    if (event.type !== 'child.changed') return;
    const works = this.#last.get(event.session)?.end === undefined;
    if (event.status === 'running' && !works) this.#begin(event.session, event.agent, event.session_id);
    if (event.status === 'closed' && works) this.#end(event.session, event);
  }

  /** What a client was not told yet. */
  *news(): Generator<AgUiEvent> {
    for (const id of this.#told) {
      const { end } = this.#tasks.get(id) as Task;
      if (end === undefined) continue;
      this.#told.delete(id);
      yield ended(id, end);
    }
    for (const one of this.#last.values()) {
      if (one.end !== undefined || this.#told.has(one.id)) continue;
      this.#told.add(one.id);
      yield this.#started(one);
    }
  }

  /** Ends what still works when a stream ends. @param interrupts what each session waits for */
  *suspend(interrupts: ReadonlyMap<string, readonly string[]>): Generator<AgUiEvent> {
    for (const id of [...this.#told].toReversed()) {
      const interruptIds = interrupts.get(this.#tasks.get(id)?.session ?? '') ?? [];
      yield { type: 'SUBAGENT_FINISHED', subagentRunId: id, outcome: { type: 'suspended', interruptIds } };
    }
    this.#told.clear();
  }

  #begin(session: string, name: string, parent: string): void {
    const earlier = [...this.#tasks.values()].filter((one) => one.session === session).length;
    this.#set({ id: earlier === 0 ? session : `${session}~${earlier + 1}`, session, name, parent }); // B1
  }

  #end(session: string, { status, text }: { readonly status: string; readonly text?: string }): void {
    const one = this.#last.get(session);
    if (one !== undefined) this.#set({ ...one, end: { status, ...(text === undefined ? {} : { text }) } });
  }

  #set(one: Task): void {
    this.#last.set(one.session, one);
    this.#tasks.set(one.id, one);
  }

  #started({ id: subagentRunId, name, parent }: Task): AgUiEvent {
    const above = parent === this.root ? undefined : this.idOf(parent);
    const nested = above === undefined || !this.#told.has(above) ? {} : { parentSubagentRunId: above };
    return { type: 'SUBAGENT_STARTED', subagentRunId, name, ...nested };
  }
}

function ended(subagentRunId: string, { status, text }: NonNullable<Task['end']>): AgUiEvent {
  if (status !== 'completed')
    return { type: 'SUBAGENT_ERROR', subagentRunId, code: status, message: `The subagent was ${status}.` };
  const result = text === undefined ? {} : { result: text };
  return { type: 'SUBAGENT_FINISHED', subagentRunId, ...result, outcome: { type: 'success' } };
}
