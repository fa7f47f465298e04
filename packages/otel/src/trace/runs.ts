/** Runs of sessions: `invoke_agent`, from the start of a run to its end, whichever processes carry it. */
import type { Lifecycle, SESSION_FACTS } from '@reprise/agent/contracts';
import type { Address, AskedModel, JournalRecord, Usage } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { ATTRIBUTES, NO_PROVIDER, OPERATIONS, REPRISE } from '../names/conventions.js';
import { providerOf } from '../names/providers.js';
import { EVENTS, REDUCERS } from '../names/wire.js';
import { type Definition, type Known, keyOf } from './known.js';
import { below, type Here, linkTo, type OpenSpan, type OpenSpans, type Position } from './open-spans.js';
import type { SpanAttribute, SpanLink } from './span.js';

/** The name of a fact of a session. */
export type SessionFact = keyof typeof SESSION_FACTS;

/** The value of a fact of a session. */
export type FactOf<N extends SessionFact> = z.infer<(typeof SESSION_FACTS)[N]>;

/** The states without a run under way. */
const TERMINAL: readonly Lifecycle[] = ['Idle', 'Completed', 'Failed', 'Cancelled'];

/** Begins and ends the spans of runs. */
export class Runs {
  constructor(
    private readonly spans: OpenSpans,
    private readonly known: Known,
  ) {}

  /** A session is given a definition, which counts at once where it has none. */
  adopted(session: string, value: unknown, maker: Address | null): void {
    const definition = definitionIn(value, maker);
    const before = this.known.sessions.get(session);
    if (before === undefined || (maker !== null && isOwned(maker))) this.known.sessions.set(session, definition);
    else this.known.adopting.set(session, { ...definition, maker: before.maker });
  }

  configured(session: string, { def_ref, model }: FactOf<'aos.agent/ConfigChanged@1'>): void {
    const version = versionOf(def_ref);
    const next = this.known.adopting.get(session);
    const now = next?.version === version ? next : this.known.sessions.get(session);
    if (now !== undefined) this.known.sessions.set(session, { ...now, model });
    if (next?.version === version) this.known.adopting.delete(session);
  }

  /** A closed session takes no more input: what runs knows its definition. */
  closed(session: string): void {
    this.known.adopting.delete(session);
    this.known.sessions.delete(session);
  }

  /** An input was accepted: where its run will begin, and what it links to. */
  inputAccepted(here: Here, session: string, fact: FactOf<'aos.agent/InputAccepted@1'>): void {
    const { run, cause, moved_from } = fact;
    const { inputs } = this.known;
    const before = moved_from === undefined ? undefined : inputs.get(keyOf([session, moved_from]));
    if (before !== undefined) inputs.delete(keyOf([session, moved_from ?? 0]));
    const call = cause.kind === 'parent' ? this.known.belowCall(this.spans, cause.session, cause.call_id) : undefined;
    const ofCall = call === undefined ? [] : linkTo(this.spans.world, call, 'input');
    // An input that moves to another run keeps what it came with: the request of this frame is another one.
    const links = before === undefined ? [...ofCall, ...linksFromOutside(here, session)] : kept(before, ofCall);
    if (cause.kind !== 'parent' && links.length === 0) return;
    const open = this.spans.find('run', session);
    if (open?.attributes[REPRISE.run] === runName(session, run)) {
      for (const link of links) this.spans.addLink(open, link);
      return;
    }
    // The first input of a child is what it was made for. A later one is of a session that lives, and has a trace of its own.
    const first = run === 0 && call !== undefined ? { below: call, links: [] } : { below: null, links };
    inputs.set(keyOf([session, run]), before ?? first);
  }

  /** A message was taken into the run that is under way. */
  steered(here: Here, session: string): void {
    const open = this.spans.find('run', session);
    if (open !== undefined) for (const link of linksFromOutside(here, session)) this.spans.addLink(open, link);
  }

  inputDropped(session: string, run: number): void {
    this.known.inputs.delete(keyOf([session, run]));
  }

  lifecycle(here: Here, session: string, fact: FactOf<'aos.agent/LifecycleChanged@1'>): void {
    const { run, from, to, stop, waiting } = fact;
    if (to === 'Running' && TERMINAL.includes(from)) return this.#begin(here, session, run);
    const span = this.spans.find('run', session);
    if (span === undefined) return;
    if (stop !== undefined) return this.#end(here, session, span, fact);
    if (waiting === undefined) return;
    this.spans.addEvent(span, {
      name: 'reprise.waiting',
      at: here.at,
      attributes: { [REPRISE.waitsFor]: waiting.for },
    });
  }

  /** A model call of a run has ended: the run tells its model, its provider and its use. */
  called(run: OpenSpan, asked: AskedModel | undefined, finish: string | undefined, usage: Usage | undefined): void {
    const set = (name: string, value: SpanAttribute | undefined) => {
      if (value !== undefined) run.attributes[name] = value;
    };
    if (asked !== undefined) set(ATTRIBUTES.provider, providerOf(asked));
    set(ATTRIBUTES.requestModel, asked?.model);
    set(ATTRIBUTES.responseFinishReasons, finish === undefined ? undefined : [finish]);
    for (const [name, used] of [
      [ATTRIBUTES.usageInput, usage?.tokens_in],
      [ATTRIBUTES.usageOutput, usage?.tokens_out],
    ] as const)
      if (used !== undefined) set(name, Number(run.attributes[name] ?? 0) + used);
  }

  /** A cell has failed: what is open of a session says so. */
  failed(here: Here, session: string, code: string): void {
    const run = this.spans.find('run', session);
    if (run !== undefined)
      this.spans.addEvent(run, { name: 'reprise.fault', at: here.at, attributes: { [REPRISE.code]: code } });
  }

  #begin(here: Here, session: string, run: number): void {
    const { inputs, sessions } = this.known;
    const key = keyOf([session, run]);
    const input = inputs.get(key);
    inputs.delete(key);
    const definition = sessions.get(session);
    const at = input?.below ?? this.#owned(session, run, definition);
    const agent = definition?.agent;
    this.spans.begin(
      here,
      {
        ...{ of: 'run', key: session, name: agent === undefined ? OPERATIONS.agent : `${OPERATIONS.agent} ${agent}` },
        attributes: { ...attributesOf(session, definition), [REPRISE.run]: runName(session, run) },
        links: input?.links ?? [],
      },
      at ?? [REDUCERS.session, session, run],
    );
  }

  /** Where a run begins that the owner of its session asked for. */
  #owned(session: string, run: number, definition: Definition | undefined): Position | undefined {
    const { maker = null } = definition ?? {};
    if (maker === null) return undefined;
    const [reducer, key] = maker;
    if (reducer === REDUCERS.tree) {
      const launch = this.known.launches.get(session);
      const node = launch?.run === run ? this.spans.find('node', launch.node) : undefined;
      return node && below(node);
    }
    if (reducer === REDUCERS.job) return this.known.jobs.get(key) ?? undefined;
    const project = reducer === REDUCERS.project ? this.spans.find('project', key) : undefined;
    return project && below(project);
  }

  #end(here: Here, session: string, span: OpenSpan, { stop }: FactOf<'aos.agent/LifecycleChanged@1'>): void {
    for (const call of this.spans.callsOf(span)) {
      this.known.callEnded(call);
      this.spans.end(call, here, { status: 'run_ended' });
    }
    const error =
      stop?.kind === 'Failed' ? stop.code : stop?.kind === 'LimitsExceeded' ? `limit/${stop.limit}` : undefined;
    this.spans.end(span, here, { error, status: stop?.kind === 'Cancelled' ? 'cancelled' : undefined });
    // Their owners state the definition with each input.
    const maker = this.known.sessions.get(session)?.maker ?? null;
    if (maker !== null && isOwned(maker)) this.known.sessions.delete(session);
  }
}

/** The links of an input that moves. The first of a child has a place in its place. */
function kept({ links }: { readonly links: readonly SpanLink[] }, ofCall: readonly SpanLink[]): readonly SpanLink[] {
  return links.length > 0 ? links : ofCall;
}

/** The span of another system behind which the request of this frame came to a session. */
function linksFromOutside({ records: [ingress] }: Here, session: string): readonly SpanLink[] {
  if (ingress?.kind !== 'request' || ingress.traceparent === undefined) return [];
  if (ingress.to[0] !== REDUCERS.session || ingress.to[1] !== session) return [];
  const [, traceId = '', spanId = ''] = ingress.traceparent.split('-');
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return []; // not valid, by the format
  return [{ traceId, spanId, attributes: { [REPRISE.link]: 'request' } }];
}

/** What each span of a session says of it. */
export function attributesOf(session: string, definition: Definition | undefined): Record<string, SpanAttribute> {
  const entity = definition === undefined ? undefined : entityOf(session, definition);
  return {
    [ATTRIBUTES.operation]: OPERATIONS.agent,
    [ATTRIBUTES.provider]: NO_PROVIDER,
    ...(definition === undefined
      ? {}
      : {
          [ATTRIBUTES.agentName]: definition.agent,
          [ATTRIBUTES.agentVersion]: definition.version,
          [ATTRIBUTES.requestModel]: definition.model,
          ...(definition.isTyped ? { [ATTRIBUTES.outputType]: 'json' } : {}),
        }),
    ...(entity === undefined ? {} : { [ATTRIBUTES.agentId]: entity }),
    [ATTRIBUTES.conversationId]: session,
  };
}

/** The id of a run, as events show it. */
function runName(session: string, run: number): string {
  return `${session}/r${run}`;
}

/** Whether a maker states the definition with each input that it sends. */
function isOwned([reducer]: Address): boolean {
  return reducer === REDUCERS.tree || reducer === REDUCERS.job;
}

const ENTITY_DIGITS = 64;

/** The id of the agent of a society: its sessions and its jobs have keys below it. */
function entityOf(session: string, { maker }: Definition): string | undefined {
  if (maker?.[0] === REDUCERS.entity) return maker[1];
  const isJob = maker?.[0] === REDUCERS.job && /^[0-9a-f]{64}\/j/.test(session);
  return isJob ? session.slice(0, ENTITY_DIGITS) : undefined;
}

function definitionIn(value: unknown, maker: Address | null): Definition {
  // The session's own schema checked the event before it was delivered.
  const { def_ref, config } = value as {
    readonly def_ref: { readonly hex: string };
    readonly config: { readonly agent: string; readonly model: string; readonly repair_ref: unknown };
  };
  return {
    ...{ agent: config.agent, version: versionOf(def_ref), model: config.model },
    ...{ isTyped: config.repair_ref !== null, maker },
  };
}

const VERSION_DIGITS = 16;

/** The version of a definition: the first digits of its digest. */
function versionOf({ hex }: { readonly hex: string }): string {
  return hex.slice(0, VERSION_DIGITS);
}

/** The definition that a record gives a session, and the cell that gives it. */
export function adoptionIn(
  record: JournalRecord,
): { readonly session: string; readonly value: unknown; readonly maker: Address | null } | undefined {
  if (record.kind !== 'event' && record.kind !== 'request') return undefined;
  const { to, event } = record;
  if (event.name !== EVENTS.adopted || to[0] !== REDUCERS.session) return undefined;
  const from = record.kind === 'event' ? record.from : null;
  return { session: to[1], value: event.value, maker: from === null ? null : [from[0], from[1]] };
}
