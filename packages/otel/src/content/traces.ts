/** The spans of a journal: the whole form of a tracer. */
import {
  isObject,
  type KnownOptions,
  requireArgument,
  requireFields,
  requireKnownOptions,
  requireMethods,
  wholeFrom,
} from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { readFrame } from '@reprise/kernel/store';
import type { Span } from '../trace/span.js';
import { type TraceFrame, Tracer } from '../trace/tracer.js';
import { type ContentSource, withContent } from './fill.js';

/** What {@link traces} gives besides the spans that have ended. */
export interface TracesOptions {
  /** Reads the content of operations, for the opt-in attributes of the conventions; without it spans hold no content. */
  readonly content?: ContentSource;
  /** Gives the spans that end behind this frame only; -1 for all when absent. Of a fork, the frame that it was made from. */
  readonly after?: number;
  /** Gives open spans as well, behind the others: each with the attribute `reprise.open`. */
  readonly open?: boolean;
}

const OPTIONS: KnownOptions<TracesOptions> = { content: true, after: wholeFrom(-1), open: true };

/**
 * The frames of a world in a store that is open for reading, from the first to the last one that is durable now.
 *
 * @throws RepriseError `journal_damaged`, and the errors of the store
 * @example for await (const span of traces(storedFrames(await sqlite('world.db').openReadonly()))) console.log(span.name)
 */
export async function* storedFrames(store: Pick<ReadonlyStore, 'journal'>): AsyncGenerator<TraceFrame, void> {
  requireFields(store, 'storedFrames(store)', 'a store that is open for reading');
  const { journal } = store;
  requireMethods(journal, ['head', 'read'], 'storedFrames(store)', 'a store that is open for reading');
  const { seq: head } = await journal.head();
  for await (const { seq, at, bytes } of journal.read(0, head)) yield { seq, at, records: readFrame(bytes, seq).all };
}

/**
 * The spans of a journal, in the order in which they ended: the same frames give the same spans, wherever and whenever
 * they are read.
 *
 * @param frames all frames of the journal, from the first one on, such as `world.kernel.frames(0, signal)`
 * @throws RepriseError `invalid_argument` for frames that do not follow each other; the errors of reading them
 * @example for await (const span of traces(frames)) console.log(span.name, span.endMs - span.startMs)
 */
export async function* traces(
  frames: AsyncIterable<TraceFrame> | Iterable<TraceFrame>,
  options: TracesOptions = {},
): AsyncGenerator<Span, void> {
  const isMany = isObject(frames) && (Symbol.asyncIterator in frames || Symbol.iterator in frames);
  requireArgument(isMany, 'traces(frames)', 'the frames of a journal, as an iterable', frames);
  requireKnownOptions(options, OPTIONS, 'traces');
  const { content, after = -1, open = false } = options;
  const tracer = new Tracer();
  const given = (span: Span): Span | Promise<Span> => (content === undefined ? span : withContent(span, content));
  for await (const frame of frames) {
    const ended = tracer.take(frame);
    if (frame.seq > after) for (const span of ended) yield given(span);
  }
  if (open) for (const span of tracer.open()) yield given(span);
}
