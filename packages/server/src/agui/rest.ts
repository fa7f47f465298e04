/** Whether a session and those below it do nothing by themselves until a person decides, by their events. */
import type { AgentEvent } from '@reprise/agent';

/** What a session does, as its last events say. */
interface Known {
  readonly state: 'works' | 'waits' | 'waits for children';
  /** The sessions that it made and waits for. */
  readonly children: Set<string>;
}

/** The sessions of a tree. */
export class Rest {
  readonly #known = new Map<string, Known>();

  /** @returns whether this event may bring the tree to rest */
  take(event: AgentEvent): boolean {
    if (event.type === 'child.spawned') this.#of(event.session_id).children.add(event.session);
    if (event.type === 'child.changed')
      this.#of(event.session_id).children[event.status === 'closed' ? 'delete' : 'add'](event.session);
    if (event.type === 'child.ended') this.#of(event.session_id).children.delete(event.session);
    if (event.type === 'lifecycle') this.#move(event.session_id, event.to, event.waiting?.for);
    return MOVES.includes(event.type);
  }

  /** Whether nothing goes on in a session and below it. One that is unknown has not begun. */
  isAtRest(session: string): boolean {
    const { state, children } = this.#of(session);
    if (state !== 'waits for children') return state === 'waits';
    return children.size > 0 && [...children].every((child) => this.isAtRest(child));
  }

  #move(session: string, to: string, waitsFor: string | undefined): void {
    const { children } = this.#of(session);
    const waits = waitsFor === 'children' ? 'waits for children' : waitsFor === 'owner' ? 'works' : 'waits';
    const state = to === 'Paused' ? 'waits' : to === 'WaitingInput' ? waits : 'works';
    this.#known.set(session, { state, children });
  }

  #of(session: string): Known {
    const known = this.#known.get(session) ?? { state: 'works', children: new Set() };
    this.#known.set(session, known);
    return known;
  }
}

/** A decision is no such event: behind it stands what it leads to. */
const MOVES: readonly string[] = ['lifecycle', 'tool.completed', 'tool.failed', 'child.changed', 'child.ended'];
