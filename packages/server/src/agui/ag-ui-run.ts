/**
 * One run of the protocol: what a client sent is done, and then told from its beginning until the session has answered or waits
 * for the client.
 *
 * Invariants
 * G1  What is done is durable before anything is told, and has the id of its message or its interrupt: a request that is sent
 *     again does nothing more, and is told the same from the beginning.
 * G2  The session's events are the truth; of the messages of a client only those behind the last known one count, and only for
 *     what their people say.
 * G3  A stream ends as a run of the protocol does only at a durable event. Where the server ends, its connection breaks.
 */
import { type AgentEvent, type Cursor, type Run, type RunWatchOptions, runs, type Session } from '@reprise/agent';
import { present } from '@reprise/contracts';
import type { KnownEvents } from '../sessions/known-events.js';
import { type OwnedSessions, readable } from '../sessions/owned-sessions.js';
import { notFound } from '../sessions/problem.js';
import { INLINE_BYTES_MAX } from './conversation.js';
import type { AgUiEvent } from './events.js';
import type { ClientMessage, ResumeEntry, RunAgentInput } from './input.js';
import { type End, endIn, HELD_UP, isNextTurn, lastEvent } from './outcome.js';
import { RunRefusal } from './refusal.js';
import { resume } from './resume.js';
import { RunEvents } from './run-events.js';
import { ClientHistory } from './snapshot.js';
import { Beginning, beginsAt, inputsIn, type Target } from './target.js';
import { Thread } from './thread.js';
import { fillUsers, inputOf } from './user-parts.js';

interface AskedRun {
  readonly sessions: OwnedSessions;
  /** The key of the thread's session. */
  readonly key: string;
  /** The name of the agent of a new session. */
  readonly agent: string | undefined;
  readonly input: RunAgentInput;
  /** The span of the client. */
  readonly traceparent: string | undefined;
  /** The events of threads that were read before. */
  readonly known: KnownEvents;
  /** Counts messages that are to be sent. @throws Problem where they are too many */
  admit(messages: number): void;
}

/** The events of a part so far, the first one of it first. */
interface Begun {
  readonly past: readonly AgentEvent[];
}

interface Telling extends Begun {
  readonly target: Target;
  readonly signal: AbortSignal;
}

const WATCHED = { channel: 'model', inline: INLINE_BYTES_MAX, tree: true } as const satisfies RunWatchOptions;

/** A run of the protocol. */
export class AgUiRun {
  #session: Session | undefined;
  /** The events so far, when the acts were done. */
  #past: readonly AgentEvent[] = [];
  #targets: readonly Target[] = [];
  #refusal: RunRefusal | undefined;
  /** Messages that are not sent, since the client has to answer first. */
  #unsent: readonly ClientMessage[] = [];
  /** Whether the first part has begun: what models use counts from there. */
  #isTelling = false;
  readonly #thread: Thread;
  readonly #client: ClientHistory;

  constructor(private readonly asked: AskedRun) {
    const { key, sessions, input } = asked;
    this.#thread = new Thread(key, sessions.principal);
    this.#client = new ClientHistory(input.messages);
  }

  /** Does what the client wants (G1). @throws Problem, and RepriseError where the session refuses */
  async start(): Promise<void> {
    const { sessions, key, input } = this.asked;
    if (!(await sessions.access.has(key))) throw notFound('The session');
    if (await sessions.isThere(key)) this.#session = await sessions.existing(key);
    await this.#read();
    try {
      this.#targets = await this.#act(input);
    } catch (error) {
      if (!(error instanceof RunRefusal)) throw error;
      this.#refusal = error;
    }
  }

  /** The events of the stream, as they become durable, and pieces of answers as a model writes them. */
  async *events(signal: AbortSignal): AsyncGenerator<AgUiEvent> {
    const { threadId, runId } = this.asked.input;
    yield { type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' };
    yield* this.#ignored();
    if (this.#refusal !== undefined) {
      const { code, message } = this.#refusal;
      yield { type: 'RUN_ERROR', code, message };
      return;
    }
    let end: End | undefined = { type: 'success' };
    if (this.#targets.length === 0) end = yield* this.#asItIs();
    for (const [place, target] of this.#targets.entries()) {
      end = yield* this.#part(target, signal);
      if (!this.#goesOn(end, this.#targets[place + 1])) break;
    }
    if (end === undefined) {
      if (signal.aborted) return; // G3
      throw notFound('The session');
    }
    yield* this.#thread.subagents.suspend(this.#thread.openBySession);
    const usage = this.#thread.usage.used;
    yield lastEvent(end, { threadId, runId, usage, result: await this.#result(end) });
  }

  /** Tells the conversation as it is, and what waits. What a client wants to say meanwhile stays with it until it has answered. */
  async *#asItIs(): AsyncGenerator<AgUiEvent, End> {
    for (const event of this.#past) this.#thread.take(event);
    this.#thread.usage.begin();
    yield* this.#told().begin(this.#unsent);
    return this.#unsent.length === 0 ? { type: 'success' } : this.#interrupted();
  }

  /** Whether another part is told behind one that ended: behind a run that failed, when that one has begun since. */
  #goesOn(end: End | undefined, next: Target | undefined): boolean {
    if (end === undefined || end.type === 'interrupt' || next === undefined) return false;
    return end.type === 'success' || beginsAt(next, this.asked.key, this.#past) >= 0;
  }

  async #act({ messages, resume: entries = [] }: RunAgentInput): Promise<readonly Target[]> {
    const { key } = this.asked;
    const { taken, begun } = inputsIn(this.#past, key);
    const added = newMessages(messages, key, taken);
    if (added.length > 0 && entries.length === 0 && this.#fold().open.length > 0) {
      this.#unsent = added;
      return [];
    }
    const send = await this.#checked(added); // before anything is decided
    if (entries.length > 0) await this.#decide(entries);
    await send();
    await this.#read();
    const said = added.length > 0 ? added.map(({ id }) => id) : sinceKnown(messages, begun);
    const inputs = said.map((input) => ({ input }));
    if (entries.length === 0) return inputs;
    const items = { items: entries.map(({ interruptId }) => interruptId) };
    return [items, ...this.#behind(items, inputs)];
  }

  async #decide(entries: readonly ResumeEntry[]): Promise<void> {
    const { sessions, input } = this.asked;
    const session = this.#session;
    if (session === undefined)
      throw new RunRefusal('not_found', 'An interrupt that is answered is not of this thread.');
    await resume({ sessions, session, runId: input.runId, read: () => this.#now() }, entries);
  }

  /** The messages whose turns come behind what was decided. */
  #behind(items: Target, inputs: readonly Target[]): readonly Target[] {
    const { key } = this.asked;
    const place = beginsAt(items, key, this.#past);
    return inputs.filter((input) => {
      const own = beginsAt(input, key, this.#past);
      return own < 0 || own > place;
    });
  }

  /** Checks all of some messages, and does nothing yet. @returns sends them */
  async #checked(messages: readonly ClientMessage[]): Promise<() => Promise<void>> {
    if (messages.length === 0) return async () => undefined;
    const { sessions, key, agent, traceparent, admit } = this.asked;
    admit(messages.length);
    const inputs = messages.map((message) => ({ id: message.id, input: inputOf(message) }));
    const session = await sessions.forMessage({ key, agent, event: 'aos.agent/UserInput@1' });
    return async () => {
      const by = { as: sessions.principal, ...present({ traceparent }) };
      for (const { id, input } of inputs)
        await session.send(typeof input === 'string' ? input : [...input], { id, ...by });
      this.#session = session;
    };
  }

  /** Reads the events of the session and of those below it, up to now: from the frame that began it. */
  async #read(): Promise<void> {
    const { sessions, key, known } = this.asked;
    const session = this.#session;
    if (session === undefined) return;
    const { kernel } = sessions.world;
    const first = (await (await sessions.world.views()).view(runs).get([key, 0]))?.seq ?? 0;
    const erased = await kernel.content.erasedThrough();
    const read = (after: Cursor | undefined) =>
      this.#readable(session.events({ ...WATCHED, follow: false, ...present({ after }) }));
    const { principal } = sessions;
    this.#past = await known.of({ principal, session: key, first, head: kernel.head.seq, erased, read });
  }

  #readable(events: AsyncGenerator<AgentEvent>): AsyncGenerator<AgentEvent> {
    const { access } = this.asked.sessions;
    return readable(events, sessionOf, (event) => access.mayRead(event.session_id));
  }

  /** The thread as it is now. */
  async #now(): Promise<Thread> {
    await this.#read();
    return this.#fold();
  }

  #fold(): Thread {
    const thread = new Thread(this.asked.key, this.asked.sessions.principal);
    for (const event of this.#past) thread.take(event);
    return thread;
  }

  /** Tells one part. @returns how it ended; undefined when the server ends first */
  async *#part(target: Target, signal: AbortSignal): AsyncGenerator<AgUiEvent, End | undefined> {
    const found = await this.#before(target, signal);
    if (found === undefined) return undefined;
    const told = this.#told();
    if ('end' in found) yield* told.begin();
    const end = 'end' in found ? found.end : yield* this.#tell(told, { ...found, target, signal });
    if (end !== undefined) yield* told.close();
    return end;
  }

  #told(): RunEvents {
    return new RunEvents({ thread: this.#thread, client: this.#client, fill: () => this.#fill() });
  }

  /** Takes the events before a part. @returns the first one, and those behind it so far */
  async #before(target: Target, signal: AbortSignal): Promise<Begun | { readonly end: End } | undefined> {
    const { key } = this.asked;
    const place = beginsAt(target, key, this.#past);
    const before = place < 0 ? this.#past : this.#past.slice(0, place);
    for (const event of before) if (this.#isNew(event)) this.#thread.take(event);
    if (place >= 0) return { past: this.#past.slice(place) };
    const now = this.#waiting();
    if (now !== undefined) return now;
    const beginning = new Beginning(target, key);
    for (const event of before) beginning.isAt(event);
    const follow = this.#session?.events({ ...WATCHED, signal, ...present({ after: this.#thread.last }) });
    if (follow === undefined) return { end: { type: 'success' } };
    for await (const event of this.#readable(follow)) {
      if (beginning.isAt(event)) return { past: [event] };
      this.#thread.take(event);
      const held = this.#thread.mayRest ? this.#waiting() : undefined;
      if (held !== undefined) return held;
    }
    return undefined;
  }

  /** Why the turn of a message does not come by itself. */
  #waiting(): { readonly end: End } | undefined {
    if (this.#thread.isAtRest) return { end: this.#interrupted() };
    return this.#thread.isHeldUp ? { end: HELD_UP } : undefined;
  }

  /** Tells the events from the first of a part on. */
  async *#tell(told: RunEvents, { past, target, signal }: Telling): AsyncGenerator<AgUiEvent, End | undefined> {
    const thread = this.#thread;
    const [first, ...rest] = past;
    if (first === undefined) return undefined;
    const input = 'input' in target ? target.input : undefined;
    if (!this.#isTelling) thread.usage.begin();
    this.#isTelling = true;
    const isSaid = first.type === 'turn.started';
    if (isSaid) thread.take(first); // the client that said it has it already
    yield* told.begin();
    for (const event of isSaid ? rest : past) {
      const end = yield* this.#tellOne(told, event, input);
      if (end !== undefined) return end;
    }
    if (thread.isAtRest) return this.#interrupted();
    const run = await this.#runOf(first);
    const later = run.stream({ ...WATCHED, signal, ...present({ after: thread.last }) });
    for await (const event of this.asked.sessions.toEnd(later)) {
      if (event.type === 'delta' || event.type === 'delta.reset') {
        yield* told.live(event);
        continue;
      }
      const end = yield* this.#tellOne(told, event, input);
      if (end !== undefined) return end;
      if (thread.mayRest && thread.isAtRest) return this.#interrupted();
    }
    return thread.isOver && !signal.aborted ? { type: 'success' } : undefined;
  }

  async *#tellOne(
    told: RunEvents,
    event: AgentEvent,
    input: string | undefined,
  ): AsyncGenerator<AgUiEvent, End | undefined> {
    const { session } = this.#thread;
    if (isNextTurn(event, session, input)) return { type: 'success' };
    yield* told.take(event);
    return endIn(event, session, input);
  }

  #interrupted(): End {
    return { type: 'interrupt', interrupts: this.#thread.open };
  }

  /** The run of the session that an event belongs to: of one below it, the run at the root. */
  async #runOf({ correlation_id, run_id }: AgentEvent): Promise<Run> {
    const [, number = '0'] = /\/r(\d+)$/.exec(correlation_id ?? run_id ?? '') ?? [];
    return this.asked.sessions.runOf(this.asked.key, Number(number));
  }

  #isNew({ event_seq }: AgentEvent): boolean {
    const { last } = this.#thread;
    return last === undefined || isBehind(event_seq, last);
  }

  async #fill(): Promise<void> {
    const { world } = this.asked.sessions;
    if (this.#session !== undefined) await fillUsers(this.#thread.conversation, this.#session, world.kernel.content);
  }

  /** The value that the run returned, where its agent returns one. */
  async #result(end: End): Promise<unknown> {
    const number = this.#thread.returned;
    if (end.type !== 'success' || number === undefined) return undefined;
    const now = await (await this.asked.sessions.runOf(this.asked.key, number)).status();
    return now.status === 'ended' ? now.value : undefined;
  }

  /** Says what of the request does not count. */
  *#ignored(): Generator<AgUiEvent> {
    const { tools = [], context = [], messages } = this.asked.input;
    const instructs = messages.some(({ role }) => INSTRUCTING.includes(role));
    const ignored = { tools: tools.length > 0, context: context.length > 0, messages: instructs };
    const fields = Object.entries(ignored).flatMap(([field, is]) => (is ? [field] : []));
    if (fields.length === 0) return;
    const reason = 'An agent has the tools and the instructions of its definition.';
    yield { type: 'CUSTOM', name: 'reprise/ignored', value: { fields, reason } };
  }
}

/** Messages that would instruct the model: its agent has instructions already. */
const INSTRUCTING: readonly string[] = ['system', 'developer'];

const sessionOf = ({ session_id }: AgentEvent): string => session_id;

/** The messages of people at the end that the session does not know, each once. Ids below its key are its own. */
function newMessages(
  messages: readonly ClientMessage[],
  key: string,
  taken: readonly string[],
): readonly ClientMessage[] {
  const known = new Set(taken);
  const isKnown = (id: string) => known.has(id) || id.startsWith(`${key}/`);
  const place = messages.findLastIndex(({ id, role }) => ANSWERS.includes(role) || isKnown(id));
  const said = new Map<string, ClientMessage>();
  for (const message of messages.slice(place + 1))
    if (message.role === 'user' && !said.has(message.id)) said.set(message.id, message);
  return [...said.values()];
}

const ANSWERS: readonly string[] = ['assistant', 'tool', 'reasoning'];

/** The last message of a client that the session knows, and those that came after it; without one, the last of the session. */
function sinceKnown(messages: readonly ClientMessage[], begun: readonly string[]): readonly string[] {
  const all = [...new Set(begun)];
  const last = messages.findLast(({ id, role }) => role === 'user' && all.includes(id))?.id;
  return last === undefined ? all.slice(-1) : all.slice(all.indexOf(last));
}

function isBehind(cursor: string, place: string): boolean {
  const [seq = 0, record = 0] = cursor.split('.').map(Number);
  const [lastSeq = 0, lastRecord = 0] = place.split('.').map(Number);
  return seq > lastSeq || (seq === lastSeq && record > lastRecord);
}
