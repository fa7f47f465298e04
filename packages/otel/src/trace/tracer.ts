/**
 * Makes spans from the frames of a journal, in order.
 *
 * Owns: which record is read by whom, forks, and what is stored between processes. Does not own: when a span begins and ends
 * (`runs.ts`, `operations.ts`, `workflows.ts`), reading frames and content.
 *
 * Invariants
 * T1  The spans depend on the frames alone: nothing else is read, neither a clock nor an id that is drawn.
 * T2  A span is given out by the frame that ends it. The price of a frame depends on its records and not on those before.
 * T3  A tracer that was stored after a frame, and taken up again, gives what the first one would have given.
 */
import {
  isFields,
  type JournalRecord,
  RepriseError,
  requireArgument,
  requireFields,
  type Value,
} from '@reprise/contracts';
import { decode, encode } from '@reprise/kernel/codec';
import { REPRISE } from '../names/conventions.js';
import { EVENTS, REDUCERS } from '../names/wire.js';
import { Known, type StoredTables } from './known.js';
import { type Here, type OpenSpan, OpenSpans } from './open-spans.js';
import { Operations } from './operations.js';
import { adoptionIn, type FactOf, Runs, type SessionFact } from './runs.js';
import type { Span } from './span.js';
import { Workflows } from './workflows.js';

/** A frame, as `world.frames()` gives it and `readFrame` reads it. */
export interface TraceFrame {
  /** The number of the frame; each follows the one before. */
  readonly seq: number;
  /** Its time, in milliseconds since 1970. */
  readonly at: number;
  readonly records: readonly JournalRecord[];
}

/** Raised when the meaning of a stored tracer, or what spans say, changes. */
export const TRACE_VERSION = 1;

interface Stored {
  readonly version: number;
  readonly world: string;
  readonly seq: number;
  readonly at: number;
  readonly spans: readonly OpenSpan[];
  readonly tables: StoredTables;
}

type Facts = { readonly [name: string]: (here: Here, key: string, value: never) => void };

/**
 * Makes spans from frames, each frame once, from the first one on. Its memory is bounded by what is open.
 *
 * @example
 * const tracer = new Tracer()
 * for await (const frame of world.kernel.frames(0, signal)) await send(tracer.take(frame))
 */
export class Tracer {
  readonly #spans = new OpenSpans();
  readonly #known = new Known();
  readonly #runs = new Runs(this.#spans, this.#known);
  readonly #operations = new Operations(this.#spans, this.#known, this.#runs);
  readonly #workflows = new Workflows(this.#spans, this.#known);
  readonly #facts: Readonly<Record<string, Facts>> = {
    [REDUCERS.session]: this.#sessionFacts(),
    [REDUCERS.tree]: this.#treeFacts(),
    [REDUCERS.project]: this.#projectFacts(),
    [REDUCERS.swarm]: this.#swarmFacts(),
    [REDUCERS.job]: { 'work/JobChanged@1': (_, job, value) => this.#workflows.jobChanged(job, value) },
  };
  #seq = -1;
  #at = 0;

  /**
   * A tracer as it was stored by {@link Tracer.stored}.
   *
   * @returns undefined when another version of this package stored it: begin with the first frame then
   * @throws RepriseError `invalid_bytes` for bytes that are no value
   */
  static from(bytes: Uint8Array): Tracer | undefined {
    requireArgument(bytes instanceof Uint8Array, 'Tracer.from(bytes)', 'the bytes of a stored tracer', bytes);
    const stored: unknown = decode(bytes);
    if (!isFields(stored) || stored.version !== TRACE_VERSION) return undefined;
    const { world, seq, at, spans, tables } = stored as unknown as Stored;
    const tracer = new Tracer();
    tracer.#spans.restore(world, spans.map(opened));
    tracer.#known.restore(tables);
    [tracer.#seq, tracer.#at] = [seq, at];
    return tracer;
  }

  /** The number of the last frame that was taken; -1 before the first. */
  get seq(): number {
    return this.#seq;
  }

  /** How many spans are open. */
  get size(): number {
    return this.#spans.all.length;
  }

  /** Whatever is needed to go on after the last frame, as canonical bytes. */
  stored(): Uint8Array {
    const stored: Stored = {
      ...{ version: TRACE_VERSION, world: this.#spans.world, seq: this.#seq, at: this.#at },
      ...{ spans: this.#spans.all, tables: this.#known.stored() },
    };
    return encode(stored as unknown as Value);
  }

  /**
   * Takes the next frame.
   *
   * @returns the spans that end with it
   * @throws RepriseError `invalid_argument` for a frame that does not follow the last one
   */
  take(frame: TraceFrame): readonly Span[] {
    requireFields(frame, 'Tracer.take(frame)', 'a frame with seq, at and records');
    const { seq, at, records } = frame;
    if (seq !== this.#seq + 1) throw outOfOrder(seq, this.#seq + 1);
    [this.#seq, this.#at] = [seq, at];
    if (records[0]?.kind !== 'continue') this.#known.nextCascade();
    for (let i = 0; i < records.length; i++) {
      const record = records[i];
      if (record !== undefined) this.#read({ seq, at, records, i }, record);
    }
    return this.#spans.takeEnded();
  }

  /** The spans that have not ended, as they stand after the last frame: each with the attribute `reprise.open`. */
  open(): readonly Span[] {
    return this.#spans.opened(this.#seq, this.#at);
  }

  #read(here: Here, record: JournalRecord): void {
    switch (record.kind) {
      case 'fact': {
        const { from, name, value } = record;
        if (from !== null) this.#facts[from[0]]?.[name]?.(here, from[1], value as never);
        return;
      }
      case 'event':
      case 'request':
        return this.#event(here, record);
      case 'intent':
        return this.#intent(here, record.plan);
      case 'plan_ended':
        return this.#known.planEnded(record.plan);
      case 'effect':
        return this.#operations.emitted(here, record);
      case 'attempt':
        return this.#operations.attempted(here, record);
      case 'receipt': {
        const { effect, receipt, recorded } = record;
        const attempts = receipt.attempts > 1 ? { [REPRISE.attempts]: receipt.attempts } : {};
        const repeated = recorded === undefined ? {} : { [REPRISE.recorded]: true };
        return this.#operations.settled(here, effect, receipt, { ...attempts, ...repeated });
      }
      case 'settled': {
        const { effect, status, code } = record;
        return this.#operations.settled(here, effect, { status, ...(code === null ? {} : { code: code as never }) });
      }
      case 'command':
      case 'cell_command':
        if (record.command.name === 'sys/Settle@1') {
          const { effect, outcome } = record.command.value;
          this.#operations.answered(effect, 'payload' in outcome ? outcome.payload : undefined);
        }
        return;
      case 'fault':
        return this.#fault(here, record.target, record.code);
      case 'manifest':
        this.#spans.world = record.world;
        return;
      case 'fork':
        this.#known.move(this.#spans.fork(record.world));
        for (const [effect, receipt] of record.settled) this.#operations.settled(here, effect, receipt);
        return;
      default:
    }
  }

  #event(here: Here, record: Extract<JournalRecord, { readonly kind: 'event' | 'request' }>): void {
    const adoption = adoptionIn(record);
    if (adoption !== undefined) this.#runs.adopted(adoption.session, adoption.value, adoption.maker);
    if (record.kind !== 'event') return;
    if (record.event.name === EVENTS.begin && record.to[0] === REDUCERS.job) this.#workflows.jobBegins(here, record);
    if (record.event.name === EVENTS.work) this.#workflows.worked(here, record);
  }

  /** A plan of an organization that a call of an agent led to: what it does is below that call. */
  #intent(here: Here, plan: readonly [string, string, number]): void {
    if (plan[0] === REDUCERS.session) return;
    const behind = this.#known.behind(this.#spans, here);
    if (behind !== undefined) this.#known.planBegins(plan, behind);
  }

  #fault(here: Here, [reducer, key]: readonly [string, string, ...unknown[]], code: string): void {
    if (reducer === REDUCERS.session) this.#runs.failed(here, key, code);
    if (reducer === REDUCERS.job) this.#workflows.jobFailed(key);
  }

  #sessionFacts(): Facts {
    const facts: { readonly [N in SessionFact]?: (here: Here, session: string, value: FactOf<N>) => void } = {
      'aos.agent/InputAccepted@1': (here, session, value) => this.#runs.inputAccepted(here, session, value),
      'aos.agent/InputDropped@1': (_, session, { run, turn }) => {
        if (turn !== true) this.#runs.inputDropped(session, run);
      },
      'aos.agent/LifecycleChanged@1': (here, session, value) => this.#runs.lifecycle(here, session, value),
      'aos.agent/ConfigChanged@1': (_, session, value) => this.#runs.configured(session, value),
      'aos.agent/HostCommandAccepted@1': (here, session, { type }) => {
        if (type === 'Close') this.#runs.closed(session);
        if (type === 'Steer') this.#runs.steered(here, session);
      },
      'aos.agent/ToolCallRequested@1': (here, session, value) => this.#operations.callRequested(here, session, value),
      'aos.agent/ToolCallWaiting@1': (here, session, value) => this.#operations.callWaits(here, session, value),
      'aos.agent/ToolCallSettled@1': (here, session, value) => this.#operations.callSettled(here, session, value),
    };
    return facts as Facts;
  }

  #treeFacts(): Facts {
    return {
      'tree/Started@1': (here, tree) => this.#workflows.treeStarted(here, tree),
      'tree/NodeChanged@1': (here, tree, value) => this.#workflows.nodeChanged(here, tree, value),
      'tree/Launched@1': (_, tree, value) => this.#workflows.launched(tree, value),
      'tree/Ended@1': (here, tree, value) => this.#workflows.treeEnded(here, tree, value),
    };
  }

  #projectFacts(): Facts {
    return {
      'specialists/ProjectChanged@1': (here, project, value) => this.#workflows.projectChanged(here, project, value),
      'specialists/TaskChanged@1': (here, project, value) => this.#workflows.taskChanged(here, project, value),
    };
  }

  #swarmFacts(): Facts {
    return {
      'society/SwarmChanged@1': (here, swarm, value) => this.#workflows.swarmChanged(here, swarm, value),
      'society/TaskCompleted@1': (here, swarm, value) => this.#workflows.taskCompleted(here, swarm, value),
    };
  }
}

/** A stored span, with parts that may be written. */
function opened(span: OpenSpan): OpenSpan {
  const { attributes, links, events } = span;
  return { ...span, attributes: { ...attributes }, links: [...links], events: [...events] };
}

function outOfOrder(actual: number, expected: number): RepriseError {
  return new RepriseError('invalid_argument', 'a tracer was given a frame out of order', {
    where: 'Tracer.take(frame)',
    expected: `frame ${expected}`,
    actual: `frame ${actual}`,
    hint: 'Give it every frame of the journal once, from the first one on, or go on from a stored tracer.',
  });
}
