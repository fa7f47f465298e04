export { ATTRIBUTES } from './names/conventions.js';
export type { Span, SpanAttribute, SpanAttributes, SpanContent, SpanEvent, SpanLink } from './trace/span.js';
export { type TraceFrame, Tracer } from './trace/tracer.js';
