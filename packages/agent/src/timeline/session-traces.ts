/**
 * What the events of a session need to know about its earlier frames: the place of its last step and the roots of its
 * runs. Learned from the facts of each frame, or recalled from the past.
 */
import { TERMINAL } from '../contracts/lifecycle.js';
import type { EventScope, Past } from './event-scope.js';
import type { FactName, FactValue } from './fact-events.js';
import { type Place, rootOf, runId } from './placed-event.js';

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

/** The traces of the watched sessions. */
export class SessionTraces {
  readonly #traces: Map<string, SessionTrace>;
  /** Sessions that were recalled from the past: each is recalled once. */
  readonly #recalled = new Set<string>();

  /** @param place the place of each watched session before the first frame; undefined when it is unknown */
  constructor(
    private readonly scope: EventScope,
    place: Place | undefined,
  ) {
    this.#traces = new Map((scope.sessions ?? []).map((key) => [key, newTrace(place)]));
  }

  /** The trace of a session; undefined when it is not watched. */
  of(session: string): SessionTrace | undefined {
    if (this.scope.sessions === undefined) this.#follow(session);
    return this.#traces.get(session);
  }

  /** The ids of a place, as an event states them. */
  idsOf(session: string, { run, turn, step }: Place) {
    const run_id = run === undefined ? null : runId(session, run);
    const turn_id = run_id === null || turn === undefined ? null : `${run_id}/t${turn}`;
    return {
      session_id: session,
      run_id,
      turn_id,
      step_id: turn_id === null || step === undefined ? null : `${turn_id}/s${step}`,
      correlation_id: run === undefined ? null : (this.#traces.get(session)?.roots.get(run) ?? run_id),
    };
  }

  /** Remembers what later events of the session need from a fact. */
  learn(session: string, trace: SessionTrace, name: FactName, value: unknown): void {
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
        if (this.scope.tree !== true || this.#traces.has(child)) return;
        this.#follow(child);
        this.#recalled.add(child); // the frame made it just now
        return;
      }
      default:
        return;
    }
  }

  /** Recalls the place of a watched session, and the root of its run. */
  async recallPlace(past: Past, session: string): Promise<void> {
    const isFollowed = this.scope.sessions === undefined || this.#traces.has(session);
    if (!isFollowed || this.#recalled.has(session)) return;
    const trace = this.of(session);
    this.#recalled.add(session);
    if (trace === undefined) return;
    trace.place = await past.placeOf(session);
    if (trace.place.run !== undefined) await this.recallRoot(past, session, trace.place.run);
  }

  /** Recalls the root of a run. */
  async recallRoot(past: Past, session: string, run: number): Promise<void> {
    const roots = this.of(session)?.roots;
    if (roots === undefined || roots.has(run)) return;
    const root = await past.rootOf(session, run);
    if (root !== undefined) roots.set(run, root);
  }

  #follow(session: string): void {
    if (!this.#traces.has(session)) this.#traces.set(session, newTrace({}));
  }
}

function newTrace(place: Place | undefined): SessionTrace {
  return { roots: new Map(), place };
}
