/**
 * Spans as OTLP/JSON, the form that collectors take over HTTP.
 *
 * Invariants
 * J1  The bytes follow from the spans and the name of the service: neither the time, nor the host, nor the version of Node
 *     is in them.
 */
import { isFields, isFilled, requireArgument } from '@reprise/contracts';
import { ATTRIBUTES, CONVENTIONS, REPRISE } from '../names/conventions.js';
import type { Span, SpanAttribute, SpanAttributes } from '../trace/span.js';
import { TRACE_VERSION } from '../trace/tracer.js';

/** The name of the service when its owner gives none. */
export const SERVICE = 'reprise';

/** The instrumentation that spans are of, with the version of what they say. */
export const SCOPE = { name: 'reprise', version: String(TRACE_VERSION) } as const;

/** The schema of the general conventions. */
export const SCHEMA_URL = `https://opentelemetry.io/schemas/${CONVENTIONS.general}`;

const KINDS = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;
const SAMPLED = 1;

/**
 * Spans as one request of OTLP, `ExportTraceServiceRequest`, as JSON in one line.
 *
 * @param spans spans of one or more worlds
 * @param service the name of the service; `reprise` when absent
 */
export function otlpTraces(spans: readonly Span[], service: string = SERVICE): string {
  const isMany = Array.isArray(spans) && spans.every((span) => isFields(span) && isFields(span.attributes));
  requireArgument(isMany, 'otlpTraces(spans)', 'a list of spans', spans);
  requireArgument(isFilled(service), 'otlpTraces(service)', 'the name of a service', service);
  const worlds = new Map<string, Span[]>();
  for (const span of spans) {
    const of = worlds.get(span.world);
    if (of === undefined) worlds.set(span.world, [span]);
    else of.push(span);
  }
  const resourceSpans = [...worlds].map(([world, of]) => ({
    resource: { attributes: otlpAttributes(resourceOf(world, service)) },
    scopeSpans: [{ scope: SCOPE, spans: of.map(spanOf), schemaUrl: SCHEMA_URL }],
  }));
  return JSON.stringify({ resourceSpans });
}

/** The attributes of the resource that spans of a world are of. */
export function resourceOf(world: string, service: string): SpanAttributes {
  return { [ATTRIBUTES.serviceName]: service, [REPRISE.world]: world };
}

/** Attributes as OTLP writes them. */
export function otlpAttributes(attributes: SpanAttributes): readonly object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValueOf(value, DOUBLES.includes(key)) }));
}

/** Attributes that the conventions state as doubles: one is written as such also where it is a whole number. */
const DOUBLES: readonly string[] = [ATTRIBUTES.requestTemperature, ATTRIBUTES.responseTimeToFirstChunk];

function spanOf(span: Span): object {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, isError, attributes, events, links } = span;
  return {
    ...{ traceId, spanId },
    ...(parentSpanId === null ? {} : { parentSpanId }),
    ...{ flags: SAMPLED, name, kind: KINDS[kind], startTimeUnixNano: nanos(startMs), endTimeUnixNano: nanos(endMs) },
    attributes: otlpAttributes(attributes),
    ...(events.length === 0
      ? {}
      : {
          events: events.map((event) => ({
            ...{ timeUnixNano: nanos(event.at), name: event.name, attributes: otlpAttributes(event.attributes) },
          })),
        }),
    ...(links.length === 0
      ? {}
      : {
          links: links.map((link) => ({
            ...{ traceId: link.traceId, spanId: link.spanId, attributes: otlpAttributes(link.attributes) },
          })),
        }),
    status: isError ? { code: STATUS_ERROR } : {},
  };
}

function anyValueOf(value: SpanAttribute, isDouble = false): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value !== 'number') return { arrayValue: { values: value.map((one) => anyValueOf(one)) } };
  return Number.isInteger(value) && !isDouble ? { intValue: String(value) } : { doubleValue: value };
}

/** Nanoseconds since 1970, as text: they are beyond the whole numbers of a double. */
export function nanos(ms: number): string {
  return `${ms}000000`;
}
