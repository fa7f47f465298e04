export { type ContentSource, withContent } from './content/fill.js';
export { storedFrames, type TracesOptions, traces } from './content/traces.js';
export { startTelemetry, type TelemetryOptions } from './live/start.js';
export { otlpTraces } from './otlp/json.js';
export { type SdkExporter, SdkSink, type SdkSpan } from './otlp/sdk.js';
export { type OtlpOptions, OtlpSink, type SpanSink } from './otlp/send.js';
export type { Span, SpanAttribute, SpanAttributes, SpanContent, SpanEvent, SpanLink } from './trace/span.js';
export { type TraceFrame, Tracer } from './trace/tracer.js';
