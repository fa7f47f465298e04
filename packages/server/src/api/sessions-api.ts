/**
 * What a client does with sessions: messages, commands, decisions, and what it reads of them.
 *
 * Invariants
 * A1  Everything is done and read as the principal of the request (served-world/W1). What its principal may not read looks like
 *     what is not there.
 * A2  Every act has an id that its client chose: sent again, it is the same act, with the same answer.
 */
import {
  type AgentEvent,
  type AgentWorld,
  type AnyAgent,
  type Decision,
  type Part,
  type Pending,
  type Run,
  type Session,
  sessions,
  toolDifferences,
} from '@reprise/agent';
import { SESSION_REDUCER } from '@reprise/agent/contracts';
import { type Address, address, isRepriseError, type Principal, present, type Value } from '@reprise/contracts';
import type { WorldView } from '@reprise/kernel';
import type { Cursors } from '../world/cursors.js';
import type { Organizations, Organized } from '../world/organizations.js';
import { unlessDenied } from '../world/refusals.js';
import { SessionResources } from '../world/session-resources.js';
import { Access } from './access.js';
import type { SessionsOptions } from './options.js';
import { isSame, type OrganizationEvent, organizationEvents } from './organization-events.js';
import { OrganizationsApi } from './organizations-api.js';
import { notFound, Problem } from './problem.js';
import type { CommandBody, DecisionBody, InputBody } from './shapes.js';

/** The id of a pending item: of an effect, and of a question its number as well. */
const WHOLE_ID = /^[0-9a-f]{64}(?:\.\d{1,3})?$/;

/** Where the list of sessions is. */
const SESSIONS_PATH = '/v1/sessions';

/** The answer to a message. */
interface Accepted {
  readonly session: string;
  readonly id: string;
  readonly status: 'accepted' | 'rejected';
  readonly run?: number;
  readonly code?: string;
}

/** What one principal does with sessions, and reads of them. */
export class SessionsApi {
  /** The organizations that the principal has. */
  readonly organizations: OrganizationsApi;
  readonly #view: WorldView;
  readonly #resources: SessionResources;
  readonly #access: Access;

  constructor(
    private readonly world: AgentWorld,
    private readonly principal: Principal,
    private readonly options: SessionsOptions,
    private readonly known: { readonly cursors: Cursors; readonly organizations: Organizations },
  ) {
    const { cursors, organizations } = known;
    this.#view = world.kernel.as(principal);
    this.#access = new Access(this.#view, organizations, options);
    this.#resources = new SessionResources(world, this.#view, cursors, SESSIONS_PATH, (key) => this.#access.sees(key));
    this.organizations = new OrganizationsApi(principal, organizations, this.#access, cursors);
  }

  /** What stands at a path below the list of sessions: the list, a session, its transcript, content. */
  async read(place: string): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array }> {
    const found = await this.#resources.read(place);
    if (found === undefined) throw notFound('This');
    return found;
  }

  /** Takes a message. A session begins with its first one. */
  async input(
    key: string,
    { id, text, parts, as = 'input', agent, labels, priority }: InputBody,
    traceparent?: string,
  ): Promise<Accepted> {
    if ((text === undefined) === (parts === undefined))
      throw new Problem(400, 'invalid_argument', 'A message has either `text` or `parts`.', { where: 'text' });
    const event = as === 'input' ? 'aos.agent/UserInput@1' : 'aos.agent/HostCommand@1';
    const session = await this.#sessionFor(key, agent, labels, event);
    const input = text ?? (parts ?? []).map(partOf);
    const who = { id, as: this.principal, ...present({ traceparent }) };
    if (as !== 'input') {
      const receipt = await (as === 'steer' ? session.steer(input, who) : session.followUp(input, who));
      return { session: key, id, ...outcomeOf(receipt) };
    }
    const run = await session.send(input, { ...who, ...present({ priority }) });
    return { session: key, id, status: 'accepted', run: run.number };
  }

  async command(key: string, body: CommandBody): Promise<Accepted> {
    if (!(await this.#access.has(key))) throw notFound('The session'); // access/A4
    const session = await this.#existing(key);
    const who = { id: body.id, as: this.principal };
    if (body.type === 'retry')
      return { session: key, id: body.id, status: 'accepted', run: (await session.retry(who)).number };
    return { session: key, id: body.id, ...outcomeOf(await sent(session, body, who)) };
  }

  /** What a run does now; how it ended, when it has. */
  async run(key: string, number: number): Promise<Readonly<Record<string, unknown>>> {
    const run = await this.#runOf(key, number);
    const now = await run.status();
    const { id } = run;
    if (now.status === 'waiting')
      return {
        session: key,
        run: number,
        id,
        status: now.status,
        for: now.for,
        until: now.until,
        pending: now.pending.map(shownItem),
      };
    if (now.status === 'stalled')
      return { session: key, run: number, id, status: now.status, code: now.code, since: now.since };
    if (now.status === 'running') return { session: key, run: number, id, status: now.status };
    const { stop, text, value, usage } = now;
    return { session: key, run: number, id, status: now.status, stop, text, usage, ...present({ value }) };
  }

  /** The items that the principal may decide about. */
  async pending(): Promise<{ readonly items: readonly object[] }> {
    const items = await this.world.pending({ to: this.principal });
    const cells = new Map((await this.world.kernel.pending()).map(({ id, cell }) => [id, cell]));
    const own = await Promise.all(items.map(({ id }) => this.#seesItemOf(cells.get(id))));
    return { items: items.filter((_, i) => own[i]).map(shownItem) };
  }

  /** Decides about a pending item, by its whole id: the beginning of one may be that of another person's item. */
  async decide(item: string, { id, digest, ...decision }: DecisionBody): Promise<object> {
    if (!WHOLE_ID.test(item)) throw notFound('The item');
    const waiting = (await this.world.kernel.pending()).find((one) => one.id === item);
    if (waiting !== undefined && !(await this.#seesItemOf(waiting.cell))) throw notFound('The item');
    const decided = await this.world.decide(item, decision as Decision, {
      as: this.principal,
      ...present({ id, digest }),
    });
    return decided.item === undefined ? decided : { ...decided, item: shownItem(decided.item) };
  }

  async #seesItemOf(cell: Address | undefined): Promise<boolean> {
    return cell !== undefined && this.#access.seesItemOf(cell);
  }

  /** The events of a session, or of all that the principal may read, behind a place; by the rights at the time of each. */
  async events(
    key: string | undefined,
    options: { readonly after?: AgentEvent['event_seq']; readonly tree: boolean },
    follow = true,
  ): Promise<(signal: AbortSignal) => AsyncGenerator<Told>> {
    const watched = { channel: 'model', follow, ...present({ after: options.after }) } as const;
    const beside = organizationEvents(this.known.organizations);
    if (key === undefined) return (signal) => this.#readable(this.world.events({ ...watched, signal, beside }));
    const session = await this.#existing(key);
    return (signal) => this.#readable(session.events({ ...watched, tree: options.tree, signal }));
  }

  /** What an organization states, and the events of the sessions that belong to it, behind a place. */
  async organizationEvents(
    [kind, name]: readonly [kind: string, name: string],
    { after }: { readonly after?: AgentEvent['event_seq'] },
  ): Promise<(signal: AbortSignal) => AsyncGenerator<Told>> {
    const of = await this.organizations.find(kind, name);
    const beside = organizationEvents(this.known.organizations, of);
    const watched = { channel: 'model', beside, ...present({ after }) } as const;
    return (signal) => this.#readable(this.world.events({ ...watched, signal }), of);
  }

  /** The events of a run to its end, with the pieces of its answers where they are wanted. */
  async runEvents(
    key: string,
    number: number,
    { after, deltas }: { readonly after?: AgentEvent['event_seq']; readonly deltas: boolean },
  ): Promise<(signal: AbortSignal) => ReturnType<Run['stream']>> {
    const run = await this.#runOf(key, number);
    const watched = { channel: 'model', ...present({ after }) } as const;
    return (signal) => this.#toEnd(deltas ? run.stream({ ...watched, signal }) : run.events({ ...watched, signal }));
  }

  /** A run that failed has ended: its last event says so. What waits in this process is no error of a reader. */
  async *#toEnd(events: ReturnType<Run['stream']>): ReturnType<Run['stream']> {
    try {
      for await (const event of events) {
        if (!(await this.#mayRead(sessionIn(event)))) return;
        yield event;
      }
    } catch (error) {
      if (!isRepriseError(error, 'run_failed')) throw error;
    }
  }

  /**
   * A1: by the rights when an event is handed out. A frame's events of one cell are asked about once.
   *
   * @param only the organization whose sessions are meant; all when absent
   */
  async *#readable(events: AsyncGenerator<Told>, only?: Organized): AsyncGenerator<Told> {
    let frame = '';
    let known = new Map<string, boolean>();
    for await (const event of events) {
      const [seq = ''] = event.event_seq.split('.');
      if (seq !== frame) known = new Map();
      frame = seq;
      const cell = cellIn(event);
      const may = known.get(cell) ?? (await this.#mayBeTold(event, only));
      known.set(cell, may);
      if (may) yield event;
    }
  }

  async #mayBeTold(event: Told, only: Organized | undefined): Promise<boolean> {
    const { organizations } = this.known;
    if (event.type === 'organization.changed') {
      const kind = organizations.kinds.get(event.organization);
      return kind !== undefined && this.#access.mayFollow({ kind, name: event.name });
    }
    const { session_id: session } = event;
    if (only !== undefined && !isSame(only, await organizations.of(session))) return false;
    return this.#mayRead(session);
  }

  #mayRead(session: string): Promise<boolean> {
    return this.#access.mayRead(session);
  }

  async #runOf(key: string, number: number): Promise<Run> {
    const run = await (await this.#existing(key)).run(number);
    if (run === undefined) throw notFound(`The run ${number}`);
    return run;
  }

  async #existing(key: string): Promise<Session> {
    requireKey(key);
    if (!(await this.#mayRead(key))) throw notFound('The session');
    return this.world.session(key, await this.#agentOf(key));
  }

  /** A session that is there, or that the principal may begin. */
  async #sessionFor(
    key: string,
    name: string | undefined,
    labels: InputBody['labels'],
    event: string,
  ): Promise<Session> {
    const cell: Address = [SESSION_REDUCER, requireKey(key)];
    if (!(await this.#access.has(key))) throw notFound('The session');
    if ((await this.world.kernel.state(cell)) !== undefined) {
      const session = await this.#existing(key);
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
    if ((await unlessDenied(async () => (await this.#view.state(cell)) ?? null)) === undefined)
      throw notFound('The session');
    await this.#requireSender(cell, event);
    return this.world.session(key, agent, present({ labels }));
  }

  /** Before a session is made for a message that the gate refuses. */
  async #requireSender(cell: Address, event: string): Promise<void> {
    if (await this.#view.maySend(cell, event)) return;
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

/** An event of a session, or what an organization states. */
export type Told = AgentEvent | OrganizationEvent;

function cellIn(event: Told): string {
  return event.type === 'organization.changed' ? `${event.organization} ${event.name}` : event.session_id;
}

function sessionIn(event: AgentEvent | { readonly step_id: string }): string {
  if ('session_id' in event) return event.session_id;
  return event.step_id.replace(/\/r\d+\/t\d+\/s\d+$/, '');
}

type Who = { readonly id: string; readonly as: Principal };
type Receipt = Awaited<ReturnType<Session['pause']>>;

function sent(session: Session, body: Exclude<CommandBody, { readonly type: 'retry' }>, who: Who): Promise<Receipt> {
  if (body.type === 'cancel') {
    const { scope, reason } = body;
    return session.cancel({ ...who, ...present({ scope, reason }) });
  }
  return body.type === 'withdraw' ? session.withdraw(body.input, who) : session[body.type](who);
}

function outcomeOf(receipt: Receipt): Pick<Accepted, 'status' | 'code' | 'run'> {
  if (receipt.status === 'rejected') return { status: receipt.status, code: receipt.code };
  return { status: receipt.status, ...present({ run: receipt.run }) };
}

function partOf(part: NonNullable<InputBody['parts']>[number]): Part {
  if ('text' in part) return part.text;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(part.base64))
    throw new Problem(400, 'invalid_argument', 'A file is not in base64.', { where: 'parts' });
  return { bytes: Buffer.from(part.base64, 'base64'), mediaType: part.media_type, ...present({ name: part.name }) };
}

/** A pending item as JSON. */
function shownItem(item: Pending): Readonly<Record<string, Value | undefined>> {
  const { callId, question, changed, drift, ...rest } = item;
  return {
    ...rest,
    ...(callId === undefined ? {} : { call_id: callId }),
    ...(question === undefined ? {} : { question: { ...question } as Value }),
    ...(drift === undefined ? {} : { drift: drift as unknown as Value }),
    ...(changed === undefined ? {} : { changed: toolDifferences(changed).map((one) => ({ ...one })) }),
  };
}
