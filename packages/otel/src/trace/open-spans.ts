/**
 * The spans that have begun and not ended.
 *
 * Owns: ids, parents, links, and what becomes of open spans when a world is forked. Does not own: which record begins or ends
 * a span (`runs.ts`, `operations.ts`, `workflows.ts`).
 *
 * Invariants
 * O1  A span is given out once, when it ends. Its parent was given out before, or is open.
 * O2  The first frame of a fork gives every open span the ids of the new world, and a link to the span of the original. What
 *     ended before is the original's alone, so the nearest span above that is still open becomes the parent.
 * O3  Everything here can be stored as a value and taken up again: memory is bounded by what is open.
 */
import type { JournalRecord } from '@reprise/contracts';
import { ATTRIBUTES, REPRISE } from '../names/conventions.js';
import { spanIdOf, type TraceKey, traceIdOf } from './ids.js';
import type { Span, SpanAttribute, SpanAttributes, SpanContent, SpanEvent, SpanLink } from './span.js';

/** What a span is of. */
type SpanOf = 'run' | 'call' | 'effect' | 'tree' | 'node' | 'project' | 'task' | 'swarm' | 'work';

/** The record of a frame that is read now. */
export interface Here {
  readonly seq: number;
  readonly at: number;
  readonly records: readonly JournalRecord[];
  readonly i: number;
}

/** A span above another one. */
interface Above {
  readonly name: string;
  readonly spanId: string;
}

/** Where a span may begin: its trace, and the spans above it, the nearest first. */
export interface Position {
  readonly trace: TraceKey;
  readonly path: readonly Above[];
}

/** A span that has not ended. Plain data: it is stored as it is. */
export interface OpenSpan {
  readonly of: SpanOf;
  readonly key: string;
  name: string;
  readonly kind: Span['kind'];
  /** The record that began it, as `frame.record`. */
  readonly place: string;
  readonly trace: TraceKey;
  readonly traceId: string;
  readonly spanId: string;
  readonly path: readonly Above[];
  startMs: number;
  readonly attributes: Record<string, SpanAttribute>;
  readonly links: SpanLink[];
  readonly events: SpanEvent[];
  content: SpanContent;
}

/** What a span is known by when it begins. */
interface Beginning {
  readonly of: SpanOf;
  readonly key: string;
  readonly name: string;
  readonly kind?: Span['kind'];
  readonly attributes: SpanAttributes;
  readonly links?: readonly SpanLink[];
  readonly content?: SpanContent;
}

/** What is known of a span when it ends. */
export interface Ending {
  /** The code of a failure; the span has failed when it is there. */
  readonly error?: string | undefined;
  /** How it ended that neither succeeded nor failed. */
  readonly status?: string | undefined;
  readonly attributes?: SpanAttributes;
  readonly content?: SpanContent;
  /** The name, where it is only known at the end. */
  readonly name?: string | undefined;
}

/** A span is told of no more links and events than these. */
const LINKS_MAX = 32;
const EVENTS_MAX = 64;

/** The spans that have begun and not ended, by what they are of. */
export class OpenSpans {
  /** The world whose frames are read, as 64 hex digits. */
  world = '';
  readonly #open = new Map<string, OpenSpan>();
  /** The open calls of a run, by the id of its span. */
  readonly #calls = new Map<string, Set<OpenSpan>>();
  #ended: Span[] = [];
  /** The ids of traces in this world, by their keys: a trace has many spans. */
  #traceIds = new WeakMap<TraceKey, string>();

  /** The open spans, in the order in which they began. */
  get all(): readonly OpenSpan[] {
    return [...this.#open.values()];
  }

  find(of: SpanOf, key: string): OpenSpan | undefined {
    return this.#open.get(indexOf(of, key));
  }

  /** The open calls of a run. */
  callsOf(run: OpenSpan): readonly OpenSpan[] {
    return [...(this.#calls.get(run.spanId) ?? [])];
  }

  /** Begins a span below a position, or a trace of its own. */
  begin(here: Here, start: Beginning, below: Position | TraceKey): OpenSpan {
    const { of, key, name, kind = 'internal', attributes, links = [], content = {} } = start;
    const place = `${here.seq}.${here.i}`;
    const { trace, path } = 'path' in below ? below : { trace: below, path: [] };
    const span: OpenSpan = {
      of,
      key,
      name,
      kind,
      place,
      trace,
      traceId: this.#traceId(trace),
      spanId: spanIdOf(this.world, of, place),
      path,
      startMs: here.at,
      attributes: { ...attributes },
      links: links.slice(0, LINKS_MAX),
      events: [],
      content,
    };
    this.#add(span);
    return span;
  }

  /** Ends a span, which is given out by the next {@link takeEnded}. */
  end(span: OpenSpan, here: Here, ending: Ending = {}): void {
    this.#remove(span);
    this.#ended.push(
      spanFrom(span, { ...ending, world: this.world, seq: here.seq, place: `${here.seq}.${here.i}`, at: here.at }),
    );
  }

  /** The spans that have ended since the last call. */
  takeEnded(): readonly Span[] {
    const ended = this.#ended;
    if (ended.length > 0) this.#ended = [];
    return ended;
  }

  /** The open spans as they stand after a frame. */
  opened(seq: number, at: number): readonly Span[] {
    const attributes = { [REPRISE.open]: true };
    return this.all.map((span) => {
      const endMs = Math.max(at, span.startMs);
      return spanFrom(span, { world: this.world, seq, place: undefined, at: endMs, attributes });
    });
  }

  addLink(span: OpenSpan, link: SpanLink): void {
    if (span.links.length < LINKS_MAX) span.links.push(link);
  }

  addEvent(span: OpenSpan, event: SpanEvent): void {
    if (span.events.length < EVENTS_MAX) span.events.push(event);
  }

  /** Gives the open spans the ids of a fork's own world (O2). @returns how positions of the original stand in the fork */
  fork(world: string): (position: Position) => Position {
    const before = this.all;
    const named = new Map(before.map((span) => [nameOf(span), spanIdOf(world, span.of, span.place)]));
    const moved = ({ trace, path }: Position): Position => ({ trace, path: stillOpen(path, named) });
    for (const span of before) {
      this.#remove(span);
      const link = { traceId: span.traceId, spanId: span.spanId, attributes: { [REPRISE.link]: 'original' } };
      this.#add({
        ...span,
        traceId: traceIdOf(world, span.trace),
        spanId: named.get(nameOf(span)) ?? span.spanId,
        path: stillOpen(span.path, named),
        links: [link, ...span.links].slice(0, LINKS_MAX),
      });
    }
    this.world = world;
    this.#traceIds = new WeakMap();
    return moved;
  }

  /** Takes up what was stored. */
  restore(world: string, spans: readonly OpenSpan[]): void {
    this.world = world;
    for (const span of spans) this.#add(span);
  }

  #traceId(trace: TraceKey): string {
    const known = this.#traceIds.get(trace);
    if (known !== undefined) return known;
    const id = traceIdOf(this.world, trace);
    this.#traceIds.set(trace, id);
    return id;
  }

  #add(span: OpenSpan): void {
    this.#open.set(indexOf(span.of, span.key), span);
    const run = span.of === 'call' ? span.path[0]?.spanId : undefined;
    if (run === undefined) return;
    const calls = this.#calls.get(run) ?? new Set();
    this.#calls.set(run, calls.add(span));
  }

  #remove(span: OpenSpan): void {
    this.#open.delete(indexOf(span.of, span.key));
    const run = span.of === 'call' ? span.path[0]?.spanId : undefined;
    if (run === undefined) return;
    const calls = this.#calls.get(run);
    calls?.delete(span);
    if (calls?.size === 0) this.#calls.delete(run);
  }
}

/** The position right below a span. */
export function below(span: OpenSpan): Position {
  return { trace: span.trace, path: [{ name: nameOf(span), spanId: span.spanId }, ...span.path] };
}

/** A link to a span of this world. */
export function linkTo(world: string, { trace, path: [nearest] }: Position, what: string): readonly SpanLink[] {
  if (nearest === undefined) return [];
  return [{ traceId: traceIdOf(world, trace), spanId: nearest.spanId, attributes: { [REPRISE.link]: what } }];
}

function stillOpen(path: readonly Above[], named: ReadonlyMap<string, string>): readonly Above[] {
  return path.flatMap(({ name }) => {
    const spanId = named.get(name);
    return spanId === undefined ? [] : [{ name, spanId }];
  });
}

function nameOf({ of, place }: OpenSpan): string {
  return `${of} ${place}`;
}

function indexOf(of: SpanOf, key: string): string {
  return `${of}\0${key}`;
}

interface Close extends Ending {
  readonly world: string;
  readonly seq: number;
  readonly place: string | undefined;
  readonly at: number;
}

function spanFrom(
  span: OpenSpan,
  { error, status, attributes = {}, content, name = span.name, ...close }: Close,
): Span {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.path[0]?.spanId ?? null,
    name,
    kind: span.kind,
    startMs: span.startMs,
    endMs: close.at,
    isError: error !== undefined,
    attributes: inOrder({
      ...span.attributes,
      ...attributes,
      ...(error === undefined ? {} : { [ATTRIBUTES.errorType]: error }),
      ...(status === undefined ? {} : { [REPRISE.status]: status }),
      [REPRISE.begun]: span.place,
      ...(close.place === undefined ? {} : { [REPRISE.ended]: close.place }),
    }),
    links: [...span.links],
    events: [...span.events],
    world: close.world,
    frame: close.seq,
    content: { ...span.content, ...content },
  };
}

/** By their names: a tracer that was stored and taken up again has no other order. */
function inOrder(attributes: SpanAttributes): SpanAttributes {
  const ordered: Record<string, SpanAttribute> = {};
  for (const name of Object.keys(attributes).sort()) ordered[name] = attributes[name] as SpanAttribute;
  return ordered;
}
