/**
 * The sessions that a principal has, whatever protocol asks for them.
 *
 * Invariants
 * O1  Everything is done and read as the principal of the request (served-world/W1). What its principal may not read looks like
 *     what is not there.
 */
import {
  type AgentEvent,
  type AgentWorld,
  type AnyAgent,
  type Delta,
  type Run,
  type Session,
  sessions,
} from '@reprise/agent';
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, address, isRepriseError, type Principal, present } from '@reprise/contracts';
import type { WorldView } from '@reprise/kernel';
import type { Organizations } from '../world/organizations.js';
import { unlessDenied } from '../world/refusals.js';
import { Access } from './access.js';
import type { SessionsOptions } from './options.js';
import { notFound, Problem } from './problem.js';

/** A session that may have to be made for a message. */
interface Wanted {
  readonly key: string;
  /** The name of the agent of a new session. */
  readonly agent: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** The event that carries the message. */
  readonly event: string;
}

/** The sessions of a world, as one principal has them. */
export class OwnedSessions {
  readonly view: WorldView;
  readonly access: Access;

  constructor(
    readonly world: AgentWorld,
    readonly principal: Principal,
    private readonly options: SessionsOptions,
    organizations: Organizations,
  ) {
    this.view = world.kernel.as(principal);
    this.access = new Access(this.view, organizations, options);
  }

  /** A session that is there. @throws Problem `not_found` */
  async existing(key: string): Promise<Session> {
    requireKey(key);
    if (!(await this.access.mayRead(key))) throw notFound('The session');
    return this.world.session(key, await this.#agentOf(key));
  }

  /** A run of a session that is there. @throws Problem `not_found` */
  async runOf(key: string, number: number): Promise<Run> {
    const run = await (await this.existing(key)).run(number);
    if (run === undefined) throw notFound(`The run ${number}`);
    return run;
  }

  /** A session that is there, or that the principal may begin. @throws Problem */
  async forMessage({ key, agent: name, labels, event }: Wanted): Promise<Session> {
    const cell: Address = [SESSION_REDUCER, requireKey(key)];
    if (!(await this.access.has(key))) throw notFound('The session');
    if (await this.isThere(key)) {
      const session = await this.existing(key);
      const { agent } = (await this.#row(key)) ?? {};
      if (name !== undefined && name !== agent)
        throw new Problem(409, 'request_differs', `The session has the agent ${agent}.`, { where: 'agent' });
      await this.#requireSender(cell, event);
      return session;
    }
    const agent = this.#newAgent(name);
    const wanted = { principal: this.principal, session: key, agent: agent.name };
    if (this.options.mayStart !== undefined && (await this.options.mayStart(wanted)) !== true)
      throw new Problem(403, 'may_not_start', 'You may not begin this session with this agent.', { where: 'agent' });
    if ((await unlessDenied(async () => (await this.view.state(cell)) ?? null)) === undefined)
      throw notFound('The session');
    await this.#requireSender(cell, event);
    return this.world.session(key, agent, present({ labels }));
  }

  /** Whether a session exists, also one that the principal may not read. */
  async isThere(key: string): Promise<boolean> {
    return (await this.world.kernel.state([SESSION_REDUCER, requireKey(key)])) !== undefined;
  }

  /** The events of a run. One that failed has ended: its last event says so. What waits in this process is no error of a reader. */
  async *toEnd(events: ReturnType<Run['stream']>): ReturnType<Run['stream']> {
    try {
      for await (const event of events) {
        if (!(await this.access.mayRead(sessionIn(event)))) return;
        yield event;
      }
    } catch (error) {
      if (!isRepriseError(error, 'run_failed')) throw error;
    }
  }

  /** Before a session is made for a message that the gate refuses. */
  async #requireSender(cell: Address, event: string): Promise<void> {
    if (await this.view.maySend(cell, event)) return;
    throw new Problem(403, 'cap_denied', 'You may not send this to the session.');
  }

  #newAgent(name: string | undefined): AnyAgent {
    const { agents } = this.world;
    const [only] = agents.length === 1 ? agents : [];
    const agent = name === undefined ? only : agents.find((one) => one.name === name);
    if (agent !== undefined) return agent;
    const expected = agents.map((one) => one.name).join(', ');
    throw new Problem(400, 'unknown_agent', 'A session that begins names its agent.', { where: 'agent', expected });
  }

  async #agentOf(key: string): Promise<AnyAgent> {
    const { agent: name } = (await this.#row(key)) ?? {};
    const agent = this.world.agents.find((one) => one.name === name);
    if (agent !== undefined) return agent;
    throw new Problem(
      409,
      'unknown_agent',
      `The server has no code for the agent of this session.`,
      present({ actual: name }),
    );
  }

  async #row(key: string) {
    return (await this.world.views()).view(sessions).get(key);
  }
}

function requireKey(key: string): string {
  if (address.safeParse([SESSION_REDUCER, key]).success) return key;
  throw notFound('The session');
}

/** The session of an event, or of a piece of an answer. */
function sessionIn(event: AgentEvent | Delta): string {
  if ('session_id' in event) return event.session_id;
  return event.step_id.replace(/\/r\d+\/t\d+\/s\d+$/, '');
}

/**
 * Events by the rights at the time when each is handed out (O1). A frame's events of one cell are asked about once.
 *
 * @param cellOf names the cell of an event; @param may asks whether the principal may be told of it now
 */
export async function* readable<E extends { readonly event_seq: string }>(
  events: AsyncGenerator<E>,
  cellOf: (event: E) => string,
  may: (event: E) => Promise<boolean>,
): AsyncGenerator<E> {
  let frame = '';
  let known = new Map<string, boolean>();
  for await (const event of events) {
    const [seq = ''] = event.event_seq.split('.');
    if (seq !== frame) known = new Map();
    frame = seq;
    const cell = cellOf(event);
    const found = known.get(cell) ?? (await may(event));
    known.set(cell, found);
    if (found) yield event;
  }
}
