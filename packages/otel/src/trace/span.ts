/** Spans as the journal gives them, before any format. */
import type { Ref } from '@reprise/contracts';

/** The value of an attribute. */
export type SpanAttribute = string | number | boolean | readonly string[];

/** The attributes of a span, by the names that conventions give them. */
export type SpanAttributes = Readonly<Record<string, SpanAttribute>>;

/** A link to a span of the same or of another trace. */
export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly attributes: SpanAttributes;
}

/** Something that happened during a span, at a time in milliseconds since 1970. */
export interface SpanEvent {
  readonly name: string;
  readonly at: number;
  readonly attributes: SpanAttributes;
}

/** The content of an operation, as links: a reader of content turns them into the opt-in attributes of the conventions. */
export interface SpanContent {
  /** A model call: the instructions, the log of the conversation, and the part of it that was sent. */
  readonly prompt?: { readonly system: Ref; readonly head: Ref; readonly from: number; readonly to?: number };
  /** The output of a model. */
  readonly output?: Ref;
  /** The arguments of a call, as a value. */
  readonly args?: Ref;
  /** The output of a tool, as text. */
  readonly result?: Ref;
}

/** One operation of an agent, a model, a tool, a memory or an organization. Times are milliseconds since 1970. */
export interface Span {
  /** Names the trace: 32 hex digits that are not all zero. */
  readonly traceId: string;
  /** Names the span: 16 hex digits that are not all zero. */
  readonly spanId: string;
  /** The span that it is a part of; null for the first one of a trace. */
  readonly parentSpanId: string | null;
  readonly name: string;
  /** `client` for a call of a model, which runs elsewhere. */
  readonly kind: 'internal' | 'client';
  readonly startMs: number;
  readonly endMs: number;
  /** Whether the operation failed. The text of an error is content, and stands in no span. */
  readonly isError: boolean;
  readonly attributes: SpanAttributes;
  readonly links: readonly SpanLink[];
  readonly events: readonly SpanEvent[];
  /** The world that it happened in, as 64 hex digits. */
  readonly world: string;
  /** The number of the frame that ended it: a cursor for {@link Tracer} and for `reprise trace --after`. */
  readonly frame: number;
  readonly content: SpanContent;
}
