/** AG-UI over HTTP, behind the door: one request begins a run of the protocol, or follows it again. */
import { isRepriseError, type Principal } from '@reprise/contracts';
import { TOO_LARGE } from '../door/bodies.js';
import { busy, type Entrance, last, type Surface } from '../door/door.js';
import type { Visit } from '../door/visit.js';
import { jsonText, parseBody } from '../sessions/json.js';
import { KnownEvents } from '../sessions/known-events.js';
import { OwnedSessions } from '../sessions/owned-sessions.js';
import { paced } from '../sessions/paced.js';
import { doorRefusal, notFound, Problem, refusalOf } from '../sessions/problem.js';
import { sseResponse } from '../sessions/sse.js';
import { traceParentOf } from '../sessions/trace-parent.js';
import { Organizations } from '../world/organizations.js';
import type { ServedWorld } from '../world/served-world.js';
import { AgUiRun } from './ag-ui-run.js';
import type { AgUiEvent } from './events.js';
import { runAgentInput } from './input.js';
import { type AgUiOptions, ownThread } from './options.js';

const PATH = '/ag-ui';

/** What a client sent, and the name of the agent in its path. */
interface Posted {
  readonly agent: string | undefined;
  readonly text: string;
}

/** Answers the requests at `/ag-ui`, and at `/ag-ui/AGENT` for an agent of a name. */
export class AgUiSurface implements Surface {
  readonly path = PATH;
  readonly isTree = true;
  readonly methods = ['POST'];

  readonly #organizations: Organizations;
  readonly #known = new KnownEvents();

  constructor(
    private readonly served: ServedWorld,
    private readonly door: Entrance,
    private readonly options: AgUiOptions,
  ) {
    this.#organizations = new Organizations(served.world);
  }

  readonly refuse = doorRefusal;

  answer(visit: Visit, principal: Principal): Promise<Response> {
    return paced(this, this.door, principal, () => this.#answer(visit, principal));
  }

  close(): void {
    // What is streamed ends with its visits: the door has stopped them.
  }

  async #answer(visit: Visit, principal: Principal): Promise<Response> {
    const { pace, limits, streams } = this.door;
    const agent = this.#agentIn(visit);
    // Before the body, which is read before the stream: each has a bound of its own.
    const place = pace.use(principal, 'open', 1);
    if (place === undefined) return busy(this, 'requests', 1);
    const leave = visit.hold(place);
    const text = await visit.body(limits.bodyBytes);
    if (text === TOO_LARGE) return last(this.refuse(413, `A body may have ${limits.bodyBytes} bytes.`));
    const stream = pace.use(principal, 'streams', 1);
    if (stream === undefined) return busy(this, 'streams', 1);
    visit.hold(stream);
    const run = await this.#begun(visit, principal, { agent, text });
    leave();
    visit.breaks = true; // ag-ui-run/G3
    streams.watch(visit, principal);
    return sseResponse<AgUiEvent>({ visit, open: (signal) => run.events(signal), textOf, end: '', failed: lastWords });
  }

  async #begun(visit: Visit, principal: Principal, { agent, text }: Posted): Promise<AgUiRun> {
    const input = parseBody(text, runAgentInput);
    const { sessionOf = ownThread } = this.options;
    const key = await sessionOf({ principal, thread: input.threadId });
    if (key === undefined) throw notFound('The thread');
    const sessions = new OwnedSessions(this.served.world, principal, this.options, this.#organizations);
    const admit = (messages: number) => this.#admit(principal, messages);
    const run = new AgUiRun({
      known: this.#known,
      sessions,
      key,
      agent,
      input,
      traceparent: traceParentOf(visit),
      admit,
    });
    await run.start();
    return run;
  }

  /** Each message behind the first counts like a request. @throws Problem */
  #admit(principal: Principal, messages: number): void {
    const { pace, limits } = this.door;
    if (messages > limits.batch)
      throw new Problem(413, 'bound_exceeded', `A request may send ${limits.batch} messages.`, { where: 'messages' });
    const wait = pace.take(principal, messages - 1);
    if (wait !== undefined)
      throw new Problem(429, 'too_many', 'Too many messages.', {}, { 'retry-after': String(wait) });
  }

  #agentIn({ target }: Visit): string | undefined {
    const { pathname } = new URL(target, 'http://localhost');
    const [, name, more] = pathname.slice(PATH.length).split('/');
    if (name === undefined || name === '') return undefined;
    const found = this.served.world.agents.find((one) => encodeURIComponent(one.name) === name || one.name === name);
    if (found === undefined || more !== undefined) throw notFound('The agent');
    return found.name;
  }
}

function textOf(event: AgUiEvent): string {
  return `data: ${jsonText(event)}\n\n`;
}

/**
 * What tells a client that its run cannot go on, such as when the cell of its session has failed.
 *
 * @throws the error, when the client can go on elsewhere or is told nothing: its connection breaks
 */
function lastWords(error: Error): string {
  const refused = isRepriseError(error, 'world_closed') ? undefined : refusalOf(error);
  if (refused === undefined) throw error;
  return textOf({ type: 'RUN_ERROR', code: refused.code, message: refused.detail });
}
