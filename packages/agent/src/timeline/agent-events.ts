/**
 * Makes `AgentEvent@1` from journal frames.
 *
 * Owns: which record becomes which event, and the place that an event states. Does not own: reading frames, reading
 * texts behind links (`events.ts`), which channel shows an event (`seenBy`).
 *
 * Invariants
 * E1  A record becomes at most one event, so `frame.record` names an event, and a reader that resumes after it gets all
 *     later events.
 * E2  The events depend on the frames alone. Reading may begin at any frame: the needed facts about earlier frames are
 *     recalled ({@link Past}), so the events are the same as after reading every earlier frame.
 */
import type { DerivedOf, IngressOf, JournalRecord, Ref, Value } from '@reprise/contracts';
import type * as z from 'zod';
import {
  type AgentEvent,
  type AgentEventOf,
  type AgentEventType,
  type EventChannel,
  OPERATOR_ONLY,
} from '../contracts/agent-event.js';
import type { RunCause } from '../contracts/commands.js';
import type { SESSION_FACTS } from '../contracts/facts.js';
import { type InputDrop, type Lifecycle, TERMINAL } from '../contracts/lifecycle.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import { toolCallReceipt } from '../contracts/tool-call.js';

/** The parts of a frame that events are made from. */
export interface EventFrame {
  readonly seq: number;
  readonly at: number;
  readonly head: string;
  readonly records: readonly JournalRecord[];
}

/** Selects the sessions whose events are wanted. */
export interface EventScope {
  /** The keys of sessions; every session when absent. */
  readonly sessions?: readonly string[];
  /** Includes the sessions' children, from the frame that makes them. */
  readonly tree?: boolean;
  /** Includes only runs that are accepted from the first frame on; effects of older runs are ignored. */
  readonly ownRuns?: boolean;
}

type Facts = typeof SESSION_FACTS;
type FactName = keyof Facts;
type FactValue<N extends FactName> = z.infer<Facts[N]>;
type Body = { [T in AgentEventType]: Omit<AgentEventOf<T>, Correlated> }[AgentEventType];
type Correlated = 'session_id' | 'run_id' | 'turn_id' | 'step_id' | 'event_seq' | 'correlation_id' | 'causation' | 'at';

/** A place in a run; a part that does not apply is absent. */
export interface Place {
  readonly run?: number;
  readonly turn?: number;
  readonly step?: number;
}

interface Placed {
  readonly session: string;
  readonly place: Place;
  readonly body: Body;
}

/** The facts about a watched session. */
interface SessionTrace {
  /** The roots of its runs, by number. */
  readonly roots: Map<number, string>;
  /**
   * The place of its last step: the calls of a step end before the next one begins. Undefined while the current run is
   * older than the first frame.
   */
  place: Place | undefined;
}

/** The facts about an open effect. */
export interface EffectTrace {
  readonly session: string;
  readonly place: Place;
  readonly name: string;
  readonly call: { readonly call_id: string | null; readonly tool: string | null; readonly ref?: Ref };
  /** The pending items of the effect: their ids, and when each expires. */
  readonly waits: Map<string, number | null>;
}

/** The place of an effect. */
export type EffectPlace = Pick<AgentEvent, 'session_id' | 'run_id' | 'step_id' | 'correlation_id'>;

/** The facts about the frames before one. */
export interface Past {
  /** The given sessions and all sessions below them. */
  below(sessions: readonly string[]): Promise<readonly string[]>;
  /** The place of a session's last step. */
  placeOf(session: string): Promise<Place>;
  /** The run at the root of a run; undefined when the run was not accepted yet. */
  rootOf(session: string, run: number): Promise<string | undefined>;
  /** An open effect of a session; undefined when it was not open. */
  effectOf(effect: string): Promise<EffectTrace | undefined>;
}

/** Makes events from frames, in order. */
export class AgentEvents {
  readonly #sessions: Map<string, SessionTrace>;
  readonly #effects = new Map<string, EffectTrace>();
  /** Sessions and effects that were recalled from the past: each is recalled once. */
  readonly #recalled = { sessions: new Set<string>(), effects: new Set<string>() };

  #past: Past | undefined;

  /**
   * @param past the facts about the frames before the first one given; absent when that is the first of all
   * @param pastBefore reads those facts when they are needed after all: an input moved to a run that is older
   */
  constructor(
    private readonly scope: EventScope = {},
    past?: Past,
    private readonly pastBefore?: (frame: number) => Promise<Past>,
  ) {
    this.#past = past;
    const place = scope.ownRuns === true && past === undefined ? undefined : {};
    this.#sessions = new Map((scope.sessions ?? []).map((key) => [key, newTrace(place)]));
  }

  /** Makes events from a frame on. */
  static async from(
    scope: EventScope,
    past: Past | undefined,
    pastBefore?: (frame: number) => Promise<Past>,
  ): Promise<AgentEvents> {
    if (past === undefined || scope.sessions === undefined || scope.tree !== true)
      return new AgentEvents(scope, past, pastBefore);
    return new AgentEvents({ ...scope, sessions: await past.below(scope.sessions) }, past);
  }

  /** Recalls the facts about earlier frames that the events of a frame need. Must be awaited before {@link project}. */
  async recall({ seq, records }: EventFrame): Promise<void> {
    if (this.pastBefore !== undefined && this.#past === undefined && records.some(movesInput))
      this.#past = await this.pastBefore(seq);
    const past = this.#past;
    if (past === undefined) return;
    for (const record of records) {
      const effect = effectNamedBy(record);
      if (effect !== undefined) await this.#recallEffect(past, effect);
      const session = sessionNamedBy(record);
      if (session === undefined) continue;
      await this.#recallPlace(past, session);
      const run = runNamedBy(record);
      if (run !== undefined) await this.#recallRoot(past, session, run);
    }
  }

  /** The events of the next frame. */
  project(frame: EventFrame): AgentEvent[] {
    const failure = this.#failureIn(frame);
    return frame.records.flatMap((record, i) => {
      const placed = withError(this.#placed(record, frame), failure);
      return placed === undefined ? [] : [this.#event(placed, frame, i)];
    });
  }

  /** The place of an open effect; undefined when it does not belong to a watched session. */
  placeOf(effect: string): EffectPlace | undefined {
    const opened = this.#effects.get(effect);
    return opened && this.#ids(opened.session, opened.place);
  }

  /** The error of the receipt in this frame: the session's fact about the failure is in the same frame. */
  #failureIn({ records: [record] }: EventFrame): Failure | undefined {
    if (record?.kind !== 'receipt' || record.receipt.error_ref === undefined) return undefined;
    const of = this.#effects.get(record.effect);
    return of && { of, ref: record.receipt.error_ref };
  }

  #event({ session, place, body }: Placed, frame: EventFrame, i: number): AgentEvent {
    return {
      ...body,
      ...this.#ids(session, place),
      event_seq: `${frame.seq}.${i}`,
      causation: causeOf(frame, i),
      at: frame.at,
    } as AgentEvent;
  }

  #ids(session: string, { run, turn, step }: Place) {
    const run_id = run === undefined ? null : runId(session, run);
    const turn_id = run_id === null || turn === undefined ? null : `${run_id}/t${turn}`;
    return {
      session_id: session,
      run_id,
      turn_id,
      step_id: turn_id === null || step === undefined ? null : `${turn_id}/s${step}`,
      correlation_id: run === undefined ? null : (this.#sessions.get(session)?.roots.get(run) ?? run_id),
    };
  }

  #placed(record: JournalRecord, frame: EventFrame): Placed | undefined {
    switch (record.kind) {
      case 'fact':
        return this.#ofFact(record);
      case 'effect':
        return this.#ofEffect(record);
      case 'denial':
        return this.#ofDenial(record);
      case 'deferred':
        return this.#ofDeferred(record);
      case 'ask':
        return this.#ofAsk(record);
      case 'command':
        return this.#ofCommand(record);
      case 'receipt':
        return this.#ofReceipt(record);
      case 'settled':
        return this.#end(record.effect, record.by === 'expired' ? 'expired' : 'cancelled', null, frame.at);
      default:
        return undefined;
    }
  }

  #ofFact({ from, name, value }: DerivedOf<'fact'>): Placed | undefined {
    const session = from !== null && from[0] === SESSION_REDUCER ? from[1] : undefined;
    if (session === undefined || !Object.hasOwn(FACTS, name)) return undefined;
    const trace = this.#traceOf(session);
    if (trace === undefined) return undefined;
    this.#learn(session, trace, name as FactName, value);
    // The reducer's own schema checked the value before it was journaled.
    const made = (FACTS[name as FactName] as (value: unknown) => Made | undefined)(value);
    return made && { session, ...made };
  }

  /** Remembers what later events of the session need from a fact. */
  #learn(session: string, trace: SessionTrace, name: FactName, value: unknown): void {
    switch (name) {
      case 'aos.agent/InputAccepted@1': {
        const { run, cause } = value as FactValue<typeof name>;
        trace.roots.set(run, rootOf(session, run, cause));
        return;
      }
      case 'aos.agent/LifecycleChanged@1': {
        const { run, from } = value as FactValue<typeof name>;
        if (TERMINAL.includes(from)) trace.place = { run };
        return;
      }
      case 'aos.agent/LlmStepRequested@1': {
        const { run, turn, step } = value as FactValue<typeof name>;
        trace.place = { run, turn, step };
        return;
      }
      case 'aos.agent/ChildChanged@1': {
        const { session: child } = value as FactValue<typeof name>;
        if (this.scope.tree !== true || this.#sessions.has(child)) return;
        this.#follow(child);
        this.#recalled.sessions.add(child); // the frame made it just now
        return;
      }
      default:
        return;
    }
  }

  #ofEffect({ effect, plan, name, params, approval }: DerivedOf<'effect'>): Placed | undefined {
    if (plan[0] !== SESSION_REDUCER) return undefined;
    const [, session] = plan;
    const at = this.#traceOf(session)?.place;
    if (at === undefined) return undefined;
    const place = placeOfEffect(at, params);
    const opened: EffectTrace = { session, place, name, call: callOf(params), waits: new Map() };
    this.#effects.set(effect, opened);
    return approval === undefined
      ? undefined
      : waiting(opened, effect, { kind: 'approval', to: approval, deadline: null });
  }

  #ofDenial({ who, what, effect, code }: DerivedOf<'denial'>): Placed | undefined {
    if (!who.startsWith(CELL)) return undefined;
    const session = who.slice(CELL.length);
    const place = this.#traceOf(session)?.place;
    return place && { session, place, body: { type: 'effect.denied', what, effect: effect ?? null, code } };
  }

  #ofDeferred({ effect, expires, to }: IngressOf<'deferred'>): Placed | undefined {
    const opened = this.#effects.get(effect);
    if (opened?.name !== ASK) return undefined; // programs settle all other effects
    return waiting(opened, effect, { kind: 'question', to, deadline: expires });
  }

  #ofAsk({ effect, n, question, expires, to }: IngressOf<'ask'>): Placed | undefined {
    const opened = this.#effects.get(effect);
    if (opened === undefined) return undefined;
    const { ref: _, ...call } = opened.call;
    const asked = { ...opened, call };
    return waiting(asked, `${effect}.${n}`, { kind: 'question', to, deadline: expires, value: question });
  }

  #ofCommand({ command, principal: by }: IngressOf<'command'>): Placed | undefined {
    switch (command.name) {
      case 'sys/Decide@1': {
        const { effect, decision } = command.value;
        return this.#settle(effect, effect, decision.approve ? 'approved' : 'denied', by);
      }
      case 'sys/Answer@1':
        return this.#settle(command.value.effect, `${command.value.effect}.${command.value.n}`, 'answered', by);
      case 'sys/Settle@1':
        return this.#settle(command.value.effect, command.value.effect, 'answered', by);
      default:
        return undefined;
    }
  }

  #ofReceipt({ effect, receipt, at }: IngressOf<'receipt'>): Placed | undefined {
    const opened = this.#effects.get(effect);
    const how = receipt.status === 'timeout' ? 'expired' : 'cancelled';
    const ended = this.#end(effect, how, receipt.by ?? null, at);
    if (ended !== undefined || opened === undefined || receipt.payload === undefined) return ended;
    return bounded(opened, receipt.payload);
  }

  /** A person resolved a pending item. */
  #settle(effect: string, id: string, how: 'approved' | 'denied' | 'answered', by: string): Placed | undefined {
    const opened = this.#effects.get(effect);
    if (opened === undefined || !opened.waits.delete(id)) return undefined;
    return { session: opened.session, place: opened.place, body: { type: 'human.resolved', id, how, by } };
  }

  /** An effect is settled: its pending items end with it. */
  #end(effect: string, how: 'expired' | 'cancelled', by: string | null, at: number): Placed | undefined {
    const opened = this.#effects.get(effect);
    this.#effects.delete(effect);
    const [first, ...others] = opened?.waits ?? [];
    if (opened === undefined || first === undefined) return undefined;
    const [id, deadline] = first;
    const late = deadline !== null && at >= deadline;
    // One record is one event: the other items are listed in the event of the first.
    const also = others.length === 0 ? {} : { also: others.map(([other]) => other) };
    return {
      session: opened.session,
      place: opened.place,
      body: { type: 'human.resolved', id, how: late ? 'expired' : how, by, ...also },
    };
  }

  async #recallPlace(past: Past, session: string): Promise<void> {
    const { sessions } = this.#recalled;
    const isFollowed = this.scope.sessions === undefined || this.#sessions.has(session);
    if (!isFollowed || sessions.has(session)) return;
    const trace = this.#traceOf(session);
    sessions.add(session);
    if (trace === undefined) return;
    trace.place = await past.placeOf(session);
    if (trace.place.run !== undefined) await this.#recallRoot(past, session, trace.place.run);
  }

  async #recallRoot(past: Past, session: string, run: number): Promise<void> {
    const roots = this.#traceOf(session)?.roots;
    if (roots === undefined || roots.has(run)) return;
    const root = await past.rootOf(session, run);
    if (root !== undefined) roots.set(run, root);
  }

  async #recallEffect(past: Past, effect: string): Promise<void> {
    if (this.#recalled.effects.has(effect) || this.#effects.has(effect)) return;
    const opened = await past.effectOf(effect);
    if (opened === undefined || this.#traceOf(opened.session) === undefined) return;
    this.#recalled.effects.add(effect);
    this.#effects.set(effect, opened);
    if (opened.place.run !== undefined) await this.#recallRoot(past, opened.session, opened.place.run);
  }

  #traceOf(session: string): SessionTrace | undefined {
    if (this.scope.sessions === undefined) this.#follow(session);
    return this.#sessions.get(session);
  }

  #follow(session: string): void {
    if (!this.#sessions.has(session)) this.#sessions.set(session, newTrace({}));
  }
}

/** The id of a run, as events show it. */
export function runId(session: string, run: number): string {
  return `${session}/r${run}`;
}

/** The failure of an effect. */
interface Failure {
  readonly of: EffectTrace;
  readonly ref: Ref;
}

/** Adds the error of a failed effect to the event that reports its outcome. */
function withError(placed: Placed | undefined, failure: Failure | undefined): Placed | undefined {
  if (placed === undefined || failure === undefined || placed.session !== failure.of.session) return placed;
  return isOf(placed.body, failure.of)
    ? { ...placed, body: { ...placed.body, error_ref: failure.ref } as Body }
    : placed;
}

function isOf(body: Body, { name, call }: EffectTrace): boolean {
  switch (body.type) {
    case 'llm_step.failed':
    case 'compaction.failed':
      return name === MODEL;
    case 'tool.failed':
      return body.call_id === call.call_id;
    case 'lifecycle':
      return body.stop?.kind === 'Failed';
    default:
      return false;
  }
}

/** An event as a channel shows it; undefined when the channel hides it. */
export function seenBy(channel: EventChannel, event: AgentEvent): AgentEvent | undefined {
  if (channel === 'operator') return event;
  if (OPERATOR_ONLY.includes(event.type)) return undefined;
  const {
    operator_ref: _,
    warnings_ref: __,
    reason_ref: ___,
    error_ref: ____,
    error: _____,
    ...shown
  } = event as AgentEvent & {
    readonly operator_ref?: Ref;
    readonly warnings_ref?: Ref;
    readonly reason_ref?: Ref;
    readonly error_ref?: Ref;
    readonly error?: unknown;
  };
  return withoutWholes(shown as AgentEvent);
}

/** Removes links to whole files, and the operators' part of toolset events. */
function withoutWholes(event: AgentEvent): AgentEvent {
  if (event.type === 'tool.completed')
    return { ...event, artifacts: event.artifacts.map(({ blob_ref: _, ...named }) => named) };
  // An approval without a call is about the tools of a toolset: its link is the one of `toolset.changed`.
  if (event.type !== 'human.requested' || event.kind !== 'approval' || event.call_id !== null) return event;
  const { ref: _, ...asked } = event;
  return asked;
}

/** The effect of calling a model. */
const MODEL = 'llm.generate@2';

/** The effect of asking a person: its pending item is a question. */
export const ASK = 'human.ask@1';

/** Whether a record moves an input to another run, which may have begun before the first frame that was read. */
function movesInput(record: JournalRecord): boolean {
  return (
    record.kind === 'fact' &&
    record.name === 'aos.agent/InputAccepted@1' &&
    (record.value as FactValue<typeof record.name>).moved_from !== undefined
  );
}

/** The effect that a record is about, besides its emission. */
function effectNamedBy(record: JournalRecord): string | undefined {
  switch (record.kind) {
    case 'receipt':
    case 'settled':
    case 'deferred':
    case 'ask':
      return record.effect;
    case 'command':
      return 'effect' in record.command.value ? record.command.value.effect : undefined;
    default:
      return undefined;
  }
}

function sessionNamedBy(record: JournalRecord): string | undefined {
  if (record.kind === 'fact') return record.from?.[0] === SESSION_REDUCER ? record.from[1] : undefined;
  if (record.kind === 'effect') return record.plan[0] === SESSION_REDUCER ? record.plan[1] : undefined;
  if (record.kind !== 'denial' || !record.who.startsWith(CELL)) return undefined;
  return record.who.slice(CELL.length);
}

function runNamedBy(record: JournalRecord): number | undefined {
  if (record.kind !== 'fact') return undefined;
  const { run } = record.value as { readonly run?: unknown };
  return typeof run === 'number' ? run : undefined;
}

const CELL = `cell:${SESSION_REDUCER}/`;

type Made = { readonly place: Place; readonly body: Body };
type At = { readonly run: number; readonly turn: number; readonly step: number };

/** The event of each fact; undefined for facts that other records already show. */
const FACTS: { readonly [N in FactName]: (value: FactValue<N>) => Made | undefined } = {
  'aos.agent/InputAccepted@1': ({ run, first_ref, ...rest }) => ({
    place: { run },
    body: { type: 'input.accepted', ...rest, ref: first_ref },
  }),
  'aos.agent/InputDropped@1': ({ run, command_id, turn, why }) => ({
    place: { run },
    body: turn === true ? { type: 'input.dropped', command_id, why } : neverStarted(why),
  }),
  'aos.agent/HostCommandAccepted@1': ({ type: command, at: place = {}, ...rest }) => ({
    // A follow-up belongs to its future run.
    place: rest.run === undefined || rest.run === place.run ? place : { run: rest.run },
    body: { type: 'command.accepted', command, ...rest },
  }),
  'aos.agent/HostCommandRejected@1': atHand(({ type: command, ...rest }) => ({
    type: 'command.rejected',
    command,
    ...rest,
  })),
  'aos.agent/HostCommandApplied@1': atHand(({ type: command, ...rest }) => ({
    type: 'command.applied',
    command,
    ...rest,
  })),
  'aos.agent/HostCommandDropped@1': atHand(({ type: command, ...rest }) => ({
    type: 'command.dropped',
    command,
    ...rest,
  })),
  'aos.agent/LifecycleChanged@1': ({ run, depth: _, output_ref: ref, ...rest }) => ({
    place: { run },
    body: { type: 'lifecycle', news: newsOf(rest.from, rest.to), ...rest, ...(ref === undefined ? {} : { ref }) },
  }),
  'aos.agent/TurnStarted@1': ({ run, turn, step: _, ...rest }) => ({
    place: { run, turn },
    body: { type: 'turn.started', ...rest },
  }),
  'aos.agent/LlmStepRequested@1': at((rest) => ({ type: 'llm_step.requested', ...rest })),
  'aos.agent/LlmStepAnswered@1': at(({ output_ref: ref, ...rest }) => ({
    type: 'llm_step.completed',
    ref,
    ...rest,
    interrupted: rest.finish_reason === 'interrupted',
  })),
  'aos.agent/LlmStepGaveUp@1': at((rest) => ({ type: 'llm_step.failed', ...rest })),
  'aos.agent/ToolCallRequested@1': at(({ args_ref: ref, ...rest }) => ({ type: 'tool.requested', ...rest, ref })),
  'aos.agent/ToolCallWaiting@1': at(({ effect: _, ...rest }) => ({ type: 'tool.waiting', ...rest })),
  'aos.agent/ToolCallSettled@1': at(({ call_id, tool, outcome }) => settledBody({ call_id, tool }, outcome)),
  'aos.agent/ToolCallLate@1': atHand(({ output_ref: ref, ...rest }) => ({
    type: 'tool.late',
    ...rest,
    ...(ref === undefined ? {} : { ref }),
  })),
  'aos.agent/LoopDetected@1': at((rest) => ({ type: 'loop.detected', ...rest })),
  'aos.agent/ContextPressure@1': ({ run, level: percent, ...rest }) => ({
    place: { run },
    body: { type: 'context.pressure', percent, ...rest },
  }),
  'aos.agent/BudgetPressure@1': ({ run, level: percent, ...rest }) => ({
    place: { run },
    body: { type: 'budget.pressure', percent, ...rest },
  }),
  'aos.agent/CompactionStarted@1': ({ run, ...rest }) => ({
    place: { run },
    body: { type: 'compaction.started', ...rest },
  }),
  'aos.agent/ContextCompacted@1': ({ run, base_ref: ref, ...rest }) => ({
    place: { run },
    body: { type: 'context.compacted', ref, ...rest },
  }),
  'aos.agent/CompactionGaveUp@1': ({ run, ...rest }) => ({
    place: { run },
    body: { type: 'compaction.failed', ...rest },
  }),
  'aos.agent/LimitReached@1': at((rest) => ({ type: 'limit.reached', ...rest })),
  'aos.agent/UsageDiffers@1': at((rest) => ({ type: 'usage.differs', ...rest })),
  'aos.agent/ConfigChanged@1': atHand((rest) => ({ type: 'config.changed', ...rest })),
  'aos.agent/ChildChanged@1': ({ run, ...rest }) => ({
    place: run === null ? {} : { run },
    body: childBody(rest),
  }),
  'aos.agent/ToolsetChanged@1': at(({ diff_ref: ref, tools_ref: _, ...rest }) => ({
    type: 'toolset.changed',
    ...rest,
    ref,
  })),
  'aos.agent/ToolsetDecided@1': at((rest) => ({ type: 'toolset.decided', ...rest })),
  'aos.agent/ToolsetUnreachable@1': at(({ why_ref: ref, ...rest }) => ({
    type: 'toolset.unreachable',
    ...rest,
    ...(ref === undefined ? {} : { ref }),
  })),
  'aos.agent/ToolsetReachable@1': at((rest) => ({ type: 'toolset.reachable', ...rest })),
  'aos.agent/StaleIgnored@1': (rest) => ({ place: {}, body: { type: 'stale.ignored', ...rest } }),
};

/** Makes an event of a fact of a step, and separates its place from its content. */
function at<V extends At>(body: (rest: Omit<V, keyof At>) => Body): (value: V) => Made {
  return ({ run, turn, step, ...rest }) => ({ place: { run, turn, step }, body: body(rest) });
}

/** Makes an event of a fact of the current run, if there was one. */
function atHand<V extends { readonly at?: At }>(body: (rest: Omit<V, 'at'>) => Body): (value: V) => Made {
  return ({ at: place = {}, ...rest }) => ({ place, body: body(rest) });
}

/** The end of a run whose input was dropped before its turn came. */
function neverStarted(dropped: InputDrop): Body {
  const stop = { kind: 'Cancelled' as const, dropped };
  return { type: 'lifecycle', news: 'cancelled', from: 'Queued', to: 'Cancelled', stop };
}

function newsOf(from: Lifecycle, to: Lifecycle): AgentEventOf<'lifecycle'>['news'] {
  if (to === 'Running') return TERMINAL.includes(from) ? 'started' : 'resumed';
  return NEWS[to];
}

const NEWS: Readonly<Record<Exclude<Lifecycle, 'Running'>, AgentEventOf<'lifecycle'>['news']>> = {
  Idle: 'completed', // no move leads there
  WaitingInput: 'waiting',
  Paused: 'paused',
  Cancelling: 'cancelling',
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled',
};

type Call = { readonly call_id: string; readonly tool: string };

function settledBody(call: Call, outcome: FactValue<'aos.agent/ToolCallSettled@1'>['outcome']): Body {
  if ('children' in outcome) return { type: 'tool.completed', ...call, truncated: false, artifacts: [] };
  if ('non_execution' in outcome) {
    const { non_execution } = outcome;
    return { type: 'tool.failed', ...call, code: non_execution.code ?? null, non_execution };
  }
  const { output_ref: ref, operator_output_ref: operator_ref, is_error, truncated, error_code, artifacts } = outcome;
  if (is_error) return { type: 'tool.failed', ...call, code: error_code ?? null, ref, operator_ref };
  const edited = outcome.edited_args_ref === undefined ? {} : { edited_args_ref: outcome.edited_args_ref };
  return { type: 'tool.completed', ...call, ref, operator_ref, truncated, artifacts: artifacts ?? [], ...edited };
}

function childBody({ status, output_ref: ref, ...child }: Omit<FactValue<'aos.agent/ChildChanged@1'>, 'run'>): Body {
  if (status === 'spawned') return { type: 'child.spawned', ...child };
  if (status === 'running' || status === 'waiting' || status === 'closed')
    return { type: 'child.changed', ...child, status };
  return { type: 'child.ended', ...child, status, ...(ref === undefined ? {} : { ref }) };
}

/** Whether the output of a call was cut for the model. */
function bounded({ session, place, call }: EffectTrace, payload: Value): Placed | undefined {
  if (call.call_id === null || call.tool === null) return undefined;
  const { success, data } = toolCallReceipt.safeParse(payload);
  if (!success || !data.truncation_meta.truncated) return undefined;
  return {
    session,
    place,
    body: {
      type: 'tool.bounded',
      call_id: call.call_id,
      tool: call.tool,
      ref: data.model_output_ref,
      operator_ref: data.operator_output_ref,
      truncation: data.truncation_meta,
    },
  };
}

/** The place of an emitted effect in its session: a summary is not an answer of a step. */
export function placeOfEffect(at: Place, params: Value): Place {
  if ((params as { readonly summarise?: object }).summarise === undefined) return at;
  return at.run === undefined ? {} : { run: at.run };
}

/** The call behind an effect, by its parameters. */
export function callOf(params: Value): EffectTrace['call'] {
  const said = params as {
    readonly call_id?: string;
    readonly tool?: string;
    readonly args_ref?: Ref;
    readonly question_ref?: Ref;
    readonly diff_ref?: Ref;
  };
  const { call_id = null, tool = null, args_ref, question_ref, diff_ref } = said;
  const ref = args_ref ?? question_ref ?? diff_ref;
  return { call_id, tool, ...(ref === undefined ? {} : { ref }) };
}

function waiting(
  { session, place, call, waits }: EffectTrace,
  id: string,
  item: Pick<AgentEventOf<'human.requested'>, 'kind' | 'to' | 'deadline' | 'value'>,
): Placed {
  waits.set(id, item.deadline);
  return { session, place, body: { type: 'human.requested', id, ...call, ...item } };
}

/** The run at the root of a run, by its cause. */
export function rootOf(session: string, run: number, cause: RunCause): string {
  return cause.kind === 'parent' ? (cause.root ?? runId(cause.session, run)) : runId(session, run);
}

/** The cause of a record: the effect whose settlement led to it, or the ingress record. */
function causeOf({ records, head }: EventFrame, i: number): string {
  const own = records[i];
  if (own !== undefined && 'effect' in own && typeof own.effect === 'string') return own.effect;
  const direct = own !== undefined && 'c' in own ? own.c : i;
  for (let at = direct; ; ) {
    const record = records[at];
    if (record?.kind === 'receipt' || record?.kind === 'settled') return record.effect;
    if (record === undefined || !('c' in record) || record.c >= at) return `${head}#${direct}`;
    at = record.c;
  }
}

function newTrace(place: Place | undefined): SessionTrace {
  return { roots: new Map(), place };
}
