/** What is known of a thread up to a place in its session's events. */
import type { AgentEvent, AgentEventOf, Cursor } from '@reprise/agent';
import type { Principal } from '@reprise/contracts';
import { Conversation } from './conversation.js';
import type { Interrupt } from './events.js';
import { Items, interruptOf } from './items.js';
import { Rest } from './rest.js';
import { Subagents } from './subagents.js';
import { Usage } from './usage.js';

/** A fold of the events of one session and of those below it. */
export class Thread {
  readonly conversation: Conversation;
  readonly items = new Items();
  readonly usage = new Usage();
  readonly subagents: Subagents;
  /** The last event that was taken. */
  last: Cursor | undefined;
  /** Whether the last event may have brought the thread to rest. */
  mayRest = false;
  /** The number of the last run, when it returned a value. */
  returned: number | undefined;
  /** Whether the last run has ended: sessions below may work on. */
  isOver = false;
  /** Whether the last run did not complete: what waits behind it is not taken up. */
  isHeldUp = false;
  readonly #rest = new Rest();

  constructor(
    readonly session: string,
    private readonly principal: Principal,
  ) {
    this.conversation = new Conversation(session);
    this.subagents = new Subagents(session);
  }

  take(event: AgentEvent): void {
    this.last = event.event_seq;
    this.conversation.take(event);
    this.items.take(event);
    this.usage.take(event);
    this.mayRest = this.#rest.take(event);
    if (event.type === 'lifecycle' && event.session_id === this.session) this.#move(event);
    this.subagents.take(event);
  }

  /** Whether nothing goes on until the principal decides something. Within a frame it may be so for a moment. */
  get isAtRest(): boolean {
    return this.#rest.isAtRest(this.session) && this.items.openTo(this.principal).length > 0;
  }

  /** What waits for the principal. */
  get open(): readonly Interrupt[] {
    return this.items.openTo(this.principal).map((asked) => interruptOf(asked, this.session, this.subagents.idOf));
  }

  /** The ids of what is open, by the sessions that wait. */
  get openBySession(): ReadonlyMap<string, readonly string[]> {
    const found = new Map<string, string[]>();
    for (const { id, session_id } of this.items.openTo(this.principal))
      found.set(session_id, [...(found.get(session_id) ?? []), id]);
    return found;
  }

  #move({ run_id, value_ref, from, to, stop }: AgentEventOf<'lifecycle'>): void {
    if (from === 'Queued') return;
    const [, number] = /\/r(\d+)$/.exec(run_id ?? '') ?? [];
    this.returned = value_ref === undefined || number === undefined ? undefined : Number(number);
    this.isOver = stop !== undefined;
    this.isHeldUp = to === 'Failed' || to === 'Cancelled';
  }
}
