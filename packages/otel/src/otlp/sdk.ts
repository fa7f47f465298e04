/** Sends spans by an exporter of OpenTelemetry, whose types are stated here so that no package of it is needed. */
import { requireMethods } from '@reprise/contracts';
import { ATTRIBUTES } from '../names/conventions.js';
import type { Span, SpanAttribute } from '../trace/span.js';
import { resourceOf, SCHEMA_URL, SCOPE, SERVICE } from './json.js';
import { batchesOf, exportFailed, type SpanSink } from './send.js';

/** Attributes as exporters of OpenTelemetry take them. */
type SdkAttributes = Record<string, string | number | boolean | string[]>;

/** A time as `[seconds, nanoseconds]` since 1970. */
type SdkTime = [number, number];

interface SdkContext {
  readonly traceId: string;
  readonly spanId: string;
  /** 1: the span is sampled. */
  readonly traceFlags: number;
}

interface SdkResource {
  readonly attributes: SdkAttributes;
  readonly asyncAttributesPending: boolean;
  merge(other: unknown): SdkResource;
  getRawAttributes(): [string, SdkAttributes[string]][];
}

/** A span as exporters of OpenTelemetry take it: what `ReadableSpan` of `@opentelemetry/sdk-trace-base` 2 states. */
export interface SdkSpan {
  readonly name: string;
  /** 0 for an internal span, 2 for a client span. */
  readonly kind: 0 | 2;
  readonly spanContext: () => SdkContext;
  readonly parentSpanContext?: SdkContext;
  readonly startTime: SdkTime;
  readonly endTime: SdkTime;
  /** 0 for an unset status, 2 for an error. */
  readonly status: { readonly code: 0 | 2 };
  readonly attributes: SdkAttributes;
  readonly links: { readonly context: SdkContext; readonly attributes: SdkAttributes }[];
  readonly events: { readonly time: SdkTime; readonly name: string; readonly attributes: SdkAttributes }[];
  readonly duration: SdkTime;
  readonly ended: boolean;
  readonly resource: SdkResource;
  readonly instrumentationScope: { readonly name: string; readonly version: string; readonly schemaUrl: string };
  readonly droppedAttributesCount: number;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
}

/** An exporter of OpenTelemetry: `SpanExporter` of `@opentelemetry/sdk-trace-base` 2. */
export interface SdkExporter {
  export(spans: SdkSpan[], resultCallback: (result: { readonly code: number; readonly error?: Error }) => void): void;
  shutdown(): Promise<void>;
  forceFlush?(): Promise<void>;
}

/** A sink that gives spans to an exporter of OpenTelemetry. The exporter stays the owner's: it is not shut down. */
export class SdkSink implements SpanSink {
  constructor(
    private readonly exporter: SdkExporter,
    private readonly service: string = SERVICE,
  ) {
    requireMethods(exporter, ['export'], 'exporter', 'an exporter of OpenTelemetry: export, shutdown');
  }

  async send(spans: readonly Span[]): Promise<void> {
    for (const batch of batchesOf(spans)) await this.#export(batch.map((span) => sdkSpan(span, this.service)));
  }

  #export(spans: SdkSpan[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => reject(exportFailed('exporter', 'the exporter failed', cause));
      try {
        this.exporter.export(spans, ({ code, error }) => (code === 0 ? resolve() : fail(error)));
      } catch (error) {
        fail(error);
      }
    });
  }
}

/** A span as exporters of OpenTelemetry take it. */
function sdkSpan(span: Span, service: string = SERVICE): SdkSpan {
  const { traceId, spanId, parentSpanId, name, kind, startMs, endMs, isError, attributes, events, links, world } = span;
  return {
    name,
    kind: kind === 'client' ? 2 : 0,
    spanContext: () => contextOf(traceId, spanId),
    ...(parentSpanId === null ? {} : { parentSpanContext: contextOf(traceId, parentSpanId) }),
    startTime: timeOf(startMs),
    endTime: timeOf(endMs),
    duration: timeOf(endMs - startMs),
    ended: true,
    status: { code: isError ? 2 : 0 },
    attributes: attributesOf(attributes),
    links: links.map((link) => ({
      context: contextOf(link.traceId, link.spanId),
      attributes: attributesOf(link.attributes),
    })),
    events: events.map(({ at, ...event }) => ({
      time: timeOf(at),
      name: event.name,
      attributes: attributesOf(event.attributes),
    })),
    resource: new Resource(attributesOf(resourceOf(world, service))),
    instrumentationScope: { ...SCOPE, schemaUrl: SCHEMA_URL },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

class Resource implements SdkResource {
  readonly asyncAttributesPending = false;

  constructor(readonly attributes: SdkAttributes) {}

  /** What another resource says counts, but for the name of the service. */
  merge(other: { readonly attributes?: SdkAttributes } | null): SdkResource {
    const { [ATTRIBUTES.serviceName]: service, ...rest } = this.attributes;
    return new Resource({
      ...rest,
      ...other?.attributes,
      ...(service === undefined ? {} : { [ATTRIBUTES.serviceName]: service }),
    });
  }

  getRawAttributes(): [string, SdkAttributes[string]][] {
    return Object.entries(this.attributes);
  }
}

function contextOf(traceId: string, spanId: string): SdkContext {
  return { traceId, spanId, traceFlags: 1 };
}

function attributesOf(attributes: Readonly<Record<string, SpanAttribute>>): SdkAttributes {
  const given: SdkAttributes = {};
  for (const [name, value] of Object.entries(attributes)) given[name] = typeof value === 'object' ? [...value] : value;
  return given;
}

function timeOf(ms: number): SdkTime {
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];
}
