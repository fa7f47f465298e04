/**
 * What a tracer knows beside open spans: the agents of sessions, inputs that wait, and why things begin.
 *
 * Invariants
 * K1  What is known of a session, an input, a plan or a job goes with it. Of an app's own session that is never closed stays
 *     the name of its agent.
 * K2  A call or a plan that has ended is known until the cascade that ended it is over: what it began may follow in it.
 */
import type { Address, JournalRecord } from '@reprise/contracts';
import { EVENTS } from '../names/wire.js';
import { below, type Here, type OpenSpan, type OpenSpans, type Position } from './open-spans.js';
import type { SpanLink } from './span.js';

/** The definition of a session. */
export interface Definition {
  readonly agent: string;
  readonly version: string;
  readonly model: string;
  /** Whether its answers are of a stated type. */
  readonly isTyped: boolean;
  /** The cell that made the session; null for the app. */
  readonly maker: Address | null;
}

/** An input whose run has not begun. */
interface WaitingInput {
  /** Where its run begins; null for a trace of its own. */
  readonly below: Position | null;
  readonly links: readonly SpanLink[];
}

/** A launch of a node: the run of its session that belongs to it. */
interface Launch {
  readonly run: number;
  readonly node: string;
}

/** What stays between frames, as plain data. */
interface Tables {
  readonly sessions: Map<string, Definition>;
  /** Definitions that do not count yet, by session. */
  readonly adopting: Map<string, Definition>;
  readonly inputs: Map<string, WaitingInput>;
  readonly launches: Map<string, Launch>;
  readonly jobs: Map<string, Position | null>;
  readonly plans: Map<string, Position>;
  /** Calls and plans that have ended in this cascade (K2). */
  readonly recentCalls: Map<string, Position>;
  readonly endedPlans: Map<string, null>;
}

/** The tables as they are stored: lists of entries. */
export type StoredTables = { readonly [K in keyof Tables]: readonly (readonly [string, unknown])[] };

/** What is known beside open spans. */
export class Known implements Tables {
  readonly sessions = new Map<string, Definition>();
  readonly adopting = new Map<string, Definition>();
  readonly inputs = new Map<string, WaitingInput>();
  readonly launches = new Map<string, Launch>();
  readonly jobs = new Map<string, Position | null>();
  readonly plans = new Map<string, Position>();
  readonly recentCalls = new Map<string, Position>();
  readonly endedPlans = new Map<string, null>();

  /** A frame begins that another cascade is in. */
  nextCascade(): void {
    if (this.recentCalls.size > 0) this.recentCalls.clear();
    if (this.endedPlans.size === 0) return;
    for (const plan of this.endedPlans.keys()) this.plans.delete(plan);
    this.endedPlans.clear();
  }

  callEnded(span: OpenSpan): void {
    this.recentCalls.set(span.key, below(span));
  }

  planBegins(plan: readonly (string | number)[], behind: Position): void {
    this.plans.set(keyOf(plan), behind);
  }

  planEnded(plan: readonly (string | number)[]): void {
    const key = keyOf(plan);
    if (this.plans.has(key)) this.endedPlans.set(key, null);
  }

  /** The position below a call of a session; undefined for one that is not known. */
  belowCall(spans: OpenSpans, session: string, call: string): Position | undefined {
    const key = keyOf([session, call]);
    const span = spans.find('call', key);
    return span === undefined ? this.recentCalls.get(key) : below(span);
  }

  /**
   * What led to a record: the call of an agent whose delivery, or whose plan, made it in the end; undefined when it was
   * something from outside.
   *
   * @param isMeant tells the call among several that were passed on together; where it means none or more, it is their run
   */
  behind(
    spans: OpenSpans,
    { records, i }: Pick<Here, 'records' | 'i'>,
    isMeant: (call: PassedCall) => boolean = () => true,
  ): Position | undefined {
    for (let at = i; ; ) {
      const record = records[at];
      const c = record !== undefined && 'c' in record ? record.c : at;
      const cause = records[c];
      if (cause === undefined || c >= at) return undefined;
      const found = this.#madeBy(spans, cause, isMeant);
      if (found !== undefined) return found;
      at = c;
    }
  }

  /** Moves every position into a fork. */
  move(moved: (position: Position) => Position): void {
    for (const [key, job] of this.jobs) this.jobs.set(key, job && moved(job));
    for (const [key, plan] of this.plans) this.plans.set(key, moved(plan));
    for (const [key, input] of this.inputs)
      this.inputs.set(key, { ...input, below: input.below && moved(input.below) });
    this.recentCalls.clear();
  }

  stored(): StoredTables {
    const { sessions, adopting, inputs, launches, jobs, plans, recentCalls, endedPlans } = this;
    return {
      ...{ sessions: [...sessions], adopting: [...adopting], inputs: [...inputs], launches: [...launches] },
      ...{ jobs: [...jobs], plans: [...plans], recentCalls: [...recentCalls], endedPlans: [...endedPlans] },
    };
  }

  /** Takes up what was stored. */
  restore(stored: StoredTables): void {
    for (const name of Object.keys(stored) as (keyof StoredTables)[])
      for (const [key, entry] of stored[name]) (this[name] as Map<string, unknown>).set(key, entry);
  }

  #madeBy(spans: OpenSpans, cause: JournalRecord, isMeant: (call: PassedCall) => boolean): Position | undefined {
    if (cause.kind !== 'event') return undefined;
    const { event, from } = cause;
    // The reducer's own schema checked the event before it was delivered.
    const { session, call_id, calls } = event.value as unknown as PassedCalls;
    if (event.name === EVENTS.ownerCall) return this.#belowOwnerCall(spans, session, call_id);
    if (event.name === EVENTS.ownerCalls) {
      const meant = calls.filter(isMeant);
      return this.#belowOwnerCall(spans, session, meant.length === 1 ? meant[0]?.call_id : undefined);
    }
    return from?.length === 3 ? this.plans.get(keyOf(from)) : undefined;
  }

  /** Below the call, or the run of the session where the call is one of several, or a call of a program. */
  #belowOwnerCall(spans: OpenSpans, session: string, call: string | undefined): Position | undefined {
    const found = call === undefined ? undefined : this.belowCall(spans, session, call);
    const run = found === undefined ? spans.find('run', session) : undefined;
    return found ?? (run && below(run));
  }
}

/** A call of a session that its owner answers. */
export interface PassedCall {
  readonly call_id: string;
  readonly name: string;
  readonly args: unknown;
}

type PassedCalls = { readonly session: string; readonly call_id: string; readonly calls: readonly PassedCall[] };

/** The key of several names: any text may be one. */
export function keyOf(parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}
