/**
 * Makes `AgentEvent@1` from journal frames.
 *
 * Owns: which record becomes which event, and the place that an event states. Does not own: reading frames, reading
 * texts behind links (`events.ts`), what is known of a session (`session-traces.ts`), which channel shows an event (`seen-by.ts`).
 *
 * Invariants
 * E1  A record becomes at most one event, so `frame.record` names an event, and a reader that resumes after it gets all
 *     later events.
 * E2  The events depend on the frames alone. Reading may begin at any frame: the needed facts about earlier frames are
 *     recalled ({@link Past}), so the events are the same as after reading every earlier frame.
 */
import {
  type Actor,
  actorOf,
  type DerivedOf,
  type IngressOf,
  type JournalRecord,
  type Principal,
  present,
  type Ref,
  requireFields,
} from '@reprise/contracts';
import type { AgentEvent } from '../contracts/agent-event.js';
import { SESSION_REDUCER } from '../contracts/session.js';
import { withMessage } from './command-message.js';
import {
  ASK,
  bounded,
  callOf,
  type EffectTrace,
  endedItems,
  type Failure,
  placeOfEffect,
  waiting,
  withError,
} from './effect-events.js';
import {
  CELL,
  causeOf,
  type EventFrame,
  effectNamedBy,
  movesInput,
  runNamedBy,
  sessionNamedBy,
} from './event-frame.js';
import type { EventScope, Past } from './event-scope.js';
import { FACTS, type FactName, type Made } from './fact-events.js';
import type { Placed } from './placed-event.js';
import { SessionTraces } from './session-traces.js';

/** The place of an effect. */
export type EffectPlace = Pick<AgentEvent, 'session_id' | 'run_id' | 'step_id' | 'correlation_id'>;

/** Who resolved an item, and why. */
interface ResolvedBy {
  readonly by: Principal;
  readonly actor?: Actor;
  readonly reason_ref?: Ref;
}

/** Makes events from frames, in order. */
export class AgentEvents {
  readonly #traces: SessionTraces;
  readonly #effects = new Map<string, EffectTrace>();
  /** Effects that were recalled from the past: each is recalled once. */
  readonly #recalled = new Set<string>();

  #past: Past | undefined;

  /**
   * @param past the facts about the frames before the first one given; absent when that is the first of all
   * @param pastBefore reads those facts when they are needed after all: an input moved to a run that is older
   */
  constructor(
    scope: EventScope = {},
    past?: Past,
    private readonly pastBefore?: (frame: number) => Promise<Past>,
  ) {
    requireFields(scope, 'AgentEvents(scope)', 'an object with any of sessions, tree, ownRuns');
    this.#past = past;
    const place = scope.ownRuns === true && past === undefined ? undefined : {};
    this.#traces = new SessionTraces(scope, place);
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

  /**
   * Recalls the facts about earlier frames that the events of a frame need. What it returns must be awaited before
   * {@link project}; undefined where nothing must be recalled.
   */
  recall({ seq, records }: EventFrame): Promise<void> | undefined {
    if (this.#past !== undefined) return this.#recall(this.#past, records);
    return this.pastBefore !== undefined && records.some(movesInput)
      ? this.#recallBefore(this.pastBefore(seq), records)
      : undefined;
  }

  async #recallBefore(read: Promise<Past>, records: EventFrame['records']): Promise<void> {
    this.#past = await read;
    await this.#recall(this.#past, records);
  }

  async #recall(past: Past, records: EventFrame['records']): Promise<void> {
    for (const record of records) {
      const effect = effectNamedBy(record);
      if (effect !== undefined) await this.#recallEffect(past, effect);
      const session = sessionNamedBy(record);
      if (session === undefined) continue;
      await this.#traces.recallPlace(past, session);
      const run = runNamedBy(record);
      if (run !== undefined) await this.#traces.recallRoot(past, session, run);
    }
  }

  /** The events of the next frame. */
  project(frame: EventFrame): AgentEvent[] {
    const failure = this.#failureIn(frame);
    return frame.records.flatMap((record, i) => {
      const placed = withMessage(withError(this.#placed(record, frame), failure), frame);
      return placed === undefined ? [] : [this.#event(placed, frame, i)];
    });
  }

  /** The place of an open effect; undefined when it does not belong to a watched session. */
  placeOf(effect: string): EffectPlace | undefined {
    const opened = this.#effects.get(effect);
    return opened && this.#traces.idsOf(opened.session, opened.place);
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
      ...this.#traces.idsOf(session, place),
      event_seq: `${frame.seq}.${i}`,
      causation: causeOf(frame, i),
      at: frame.at,
    } as AgentEvent;
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
    const trace = this.#traces.of(session);
    if (trace === undefined) return undefined;
    this.#traces.learn(session, trace, name as FactName, value);
    // The reducer's own schema checked the value before it was journaled.
    const made = (FACTS[name as FactName] as (value: unknown) => Made | undefined)(value);
    return made && { session, ...made };
  }

  #ofEffect({ effect, plan, name, params, approval }: DerivedOf<'effect'>): Placed | undefined {
    if (plan[0] !== SESSION_REDUCER) return undefined;
    const [, session] = plan;
    const at = this.#traces.of(session)?.place;
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
    const place = this.#traces.of(session)?.place;
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

  #ofCommand({ command, principal }: IngressOf<'command'>): Placed | undefined {
    const by = principal as Principal;
    switch (command.name) {
      case 'sys/Decide@1': {
        const { effect, decision } = command.value;
        return this.#settle(effect, decision.approve ? 'approved' : 'denied', { by, ...command.value });
      }
      case 'sys/Answer@1': {
        const { effect, n, actor } = command.value;
        return this.#settle(effect, 'answered', present({ by, actor }), `${effect}.${n}`);
      }
      case 'sys/Settle@1':
        return this.#settle(command.value.effect, 'answered', { by, ...command.value });
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

  /** A pending item was resolved: by a person, or by a rule or a program with a person's rights. */
  #settle(
    effect: string,
    how: 'approved' | 'denied' | 'answered',
    { by, actor, reason_ref: ref }: ResolvedBy,
    id: string = effect,
  ): Placed | undefined {
    const opened = this.#effects.get(effect);
    if (opened === undefined || !opened.waits.delete(id)) return undefined;
    const said = present({ by, actor: actorOf(by, actor), ref });
    return { session: opened.session, place: opened.place, body: { type: 'human.resolved', id, how, ...said } };
  }

  /** An effect is settled: its pending items end with it. */
  #end(effect: string, how: 'expired' | 'cancelled', by: string | null, at: number): Placed | undefined {
    const opened = this.#effects.get(effect);
    this.#effects.delete(effect);
    return opened && endedItems(opened, how, by, at);
  }

  async #recallEffect(past: Past, effect: string): Promise<void> {
    if (this.#recalled.has(effect) || this.#effects.has(effect)) return;
    const opened = await past.effectOf(effect);
    if (opened === undefined || this.#traces.of(opened.session) === undefined) return;
    this.#recalled.add(effect);
    this.#effects.set(effect, opened);
    if (opened.place.run !== undefined) await this.#traces.recallRoot(past, opened.session, opened.place.run);
  }
}
