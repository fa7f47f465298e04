/**
 * What a client does with sessions: messages, commands, decisions, and what it reads of them.
 *
 * Invariants
 * A2  Every act has an id that its client chose: sent again, it is the same act, with the same answer.
 */
import {
  type AgentEvent,
  type Decision,
  type Part,
  type Pending,
  type Run,
  type Session,
  toolDifferences,
} from '@reprise/agent';
import { type Address, actorOf, actorWords, type Principal, present, type Value } from '@reprise/contracts';
import { bytesOf } from '../sessions/base64.js';
import { type OwnedSessions, readable } from '../sessions/owned-sessions.js';
import { notFound, Problem } from '../sessions/problem.js';
import type { Cursors } from '../world/cursors.js';
import type { ItemCells } from '../world/item-cells.js';
import type { Organizations, Organized } from '../world/organizations.js';
import { SessionResources } from '../world/session-resources.js';
import { isSame, type OrganizationEvent, organizationEvents } from './organization-events.js';
import { OrganizationsApi } from './organizations-api.js';
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

/** What a server knows for all its principals. */
export interface Known {
  readonly cursors: Cursors;
  readonly organizations: Organizations;
  readonly items: ItemCells;
}

/** What one principal does with sessions, and reads of them. */
export class SessionsApi {
  /** The organizations that the principal has. */
  readonly organizations: OrganizationsApi;
  readonly #resources: SessionResources;

  constructor(
    private readonly sessions: OwnedSessions,
    private readonly known: Known,
  ) {
    const { cursors, organizations } = known;
    const { world, view, principal, access } = sessions;
    this.#resources = new SessionResources(world, view, cursors, SESSIONS_PATH, (key) => access.sees(key));
    this.organizations = new OrganizationsApi(principal, organizations, access, cursors);
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
    const session = await this.sessions.forMessage({ key, agent, labels, event });
    const input = text ?? (parts ?? []).map(partOf);
    const who = { id, as: this.sessions.principal, ...present({ traceparent }) };
    if (as !== 'input') {
      const receipt = await (as === 'steer' ? session.steer(input, who) : session.followUp(input, who));
      return { session: key, id, ...outcomeOf(receipt) };
    }
    const run = await session.send(input, { ...who, ...present({ priority }) });
    return { session: key, id, status: 'accepted', run: run.number };
  }

  async command(key: string, body: CommandBody): Promise<Accepted> {
    if (!(await this.sessions.access.has(key))) throw notFound('The session'); // access/A4
    const session = await this.sessions.existing(key);
    const who = { id: body.id, as: this.sessions.principal };
    if (body.type === 'retry')
      return { session: key, id: body.id, status: 'accepted', run: (await session.retry(who)).number };
    return { session: key, id: body.id, ...outcomeOf(await sent(session, body, who)) };
  }

  /** What a run does now; how it ended, when it has. */
  async run(key: string, number: number): Promise<Readonly<Record<string, unknown>>> {
    const run = await this.sessions.runOf(key, number);
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
    const items = await this.sessions.world.pending({ to: this.sessions.principal });
    const cells = await this.known.items.waiting();
    const own = await Promise.all(items.map(({ id }) => this.#seesItemOf(cells.get(id))));
    return { items: items.filter((_, i) => own[i]).map(shownItem) };
  }

  /** Decides about a pending item, by its whole id: the beginning of one may be that of another person's item. */
  async decide(item: string, { id, digest, ...decision }: DecisionBody): Promise<object> {
    if (!WHOLE_ID.test(item)) throw notFound('The item');
    const cell = await this.known.items.of(item);
    if (cell !== undefined && !(await this.#seesItemOf(cell))) throw notFound('The item');
    const decided = await this.sessions.world.decide(item, decision as Decision, {
      as: this.sessions.principal,
      ...present({ id, digest }),
    });
    const isOwn = decided.actor && actorWords(decided.actor) === actorWords(actorOf(this.sessions.principal));
    if (cell === undefined && !isOwn) return { status: decided.status }; // it may be the item of another principal
    return decided.item === undefined ? decided : { ...decided, item: shownItem(decided.item) };
  }

  async #seesItemOf(cell: Address | undefined): Promise<boolean> {
    return cell !== undefined && this.sessions.access.seesItemOf(cell);
  }

  /** The events of a session, or of all that the principal may read, behind a place; by the rights at the time of each. */
  async events(
    key: string | undefined,
    options: { readonly after?: AgentEvent['event_seq']; readonly tree: boolean },
    follow = true,
  ): Promise<(signal: AbortSignal) => AsyncGenerator<Told>> {
    const watched = { channel: 'model', follow, ...present({ after: options.after }) } as const;
    const beside = organizationEvents(this.known.organizations);
    if (key === undefined)
      return (signal) => this.#readable(this.sessions.world.events({ ...watched, signal, beside }));
    const session = await this.sessions.existing(key);
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
    return (signal) => this.#readable(this.sessions.world.events({ ...watched, signal }), of);
  }

  /** The events of a run to its end, with the pieces of its answers where they are wanted. */
  async runEvents(
    key: string,
    number: number,
    { after, deltas }: { readonly after?: AgentEvent['event_seq']; readonly deltas: boolean },
  ): Promise<(signal: AbortSignal) => ReturnType<Run['stream']>> {
    const run = await this.sessions.runOf(key, number);
    const watched = { channel: 'model', ...present({ after }) } as const;
    return (signal) =>
      this.sessions.toEnd(deltas ? run.stream({ ...watched, signal }) : run.events({ ...watched, signal }));
  }

  /** By the rights of the principal. @param only the organization whose sessions are meant; all when absent */
  #readable(events: AsyncGenerator<Told>, only?: Organized): AsyncGenerator<Told> {
    return readable(events, cellIn, (event) => this.#mayBeTold(event, only));
  }

  async #mayBeTold(event: Told, only: Organized | undefined): Promise<boolean> {
    const { organizations } = this.known;
    if (event.type === 'organization.changed') {
      const kind = organizations.kinds.get(event.organization);
      return kind !== undefined && this.sessions.access.mayFollow({ kind, name: event.name });
    }
    const { session_id: session } = event;
    if (only !== undefined && !isSame(only, await organizations.of(session))) return false;
    return this.sessions.access.mayRead(session);
  }
}

/** An event of a session, or what an organization states. */
export type Told = AgentEvent | OrganizationEvent;

function cellIn(event: Told): string {
  return event.type === 'organization.changed' ? `${event.organization} ${event.name}` : event.session_id;
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
  return { bytes: bytesOf(part.base64, 'parts'), mediaType: part.media_type, ...present({ name: part.name }) };
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
