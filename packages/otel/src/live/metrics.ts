/** Metrics of the conventions, from spans that have ended: durations, tokens, and the time to the first piece of an answer. */
import { ATTRIBUTES, METRICS, NEWER_METRICS, OPERATIONS } from '../names/conventions.js';
import { nanos, otlpAttributes, resourceOf, SCHEMA_URL, SCOPE, SERVICE } from '../otlp/json.js';
import type { Span, SpanAttribute, SpanAttributes } from '../trace/span.js';

/** The boundaries of buckets, as the conventions state them: seconds, and tokens. */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

const KINDS = {
  [METRICS.duration]: { unit: 's', bounds: SECONDS },
  [METRICS.firstChunk]: { unit: 's', bounds: FIRST },
  [METRICS.tokens]: { unit: '{token}', bounds: TOKENS },
  [NEWER_METRICS.tool]: { unit: 's', bounds: SECONDS },
  [NEWER_METRICS.workflow]: { unit: 's', bounds: SECONDS },
} as const;

type MetricName = keyof typeof KINDS;

/** One value of a metric. */
interface Measured {
  readonly name: MetricName;
  readonly value: number;
  readonly attributes: SpanAttributes;
}

/** How many sets of attributes are told apart between two sendings: what is beyond counts together. */
const METRIC_SETS_MAX = 1_000;

/** The attribute of the set that holds what is beyond: the name that the SDKs of OpenTelemetry use. */
const BEYOND: SpanAttributes = { 'otel.metric.overflow': true };

/** What a span adds to metrics. */
function measuredIn({ attributes, startMs, endMs }: Span): readonly Measured[] {
  const seconds = (endMs - startMs) / 1_000;
  const about = (...names: readonly string[]): SpanAttributes => {
    const said = [ATTRIBUTES.operation, ATTRIBUTES.errorType, ...names].flatMap((name) => {
      const value = attributes[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return Object.fromEntries(said);
  };
  const operation = attributes[ATTRIBUTES.operation];
  if (operation === OPERATIONS.tool)
    return [{ name: NEWER_METRICS.tool, value: seconds, attributes: about(ATTRIBUTES.toolName, ATTRIBUTES.agentName) }];
  if (operation === OPERATIONS.workflow)
    return [{ name: NEWER_METRICS.workflow, value: seconds, attributes: about(ATTRIBUTES.workflowName) }];
  const model = about(ATTRIBUTES.provider, ATTRIBUTES.requestModel, ATTRIBUTES.responseModel);
  if (operation === OPERATIONS.agent)
    return [{ name: METRICS.duration, value: seconds, attributes: { ...model, ...about(ATTRIBUTES.agentName) } }];
  if (operation !== OPERATIONS.chat) return [{ name: METRICS.duration, value: seconds, attributes: about() }];
  const { [ATTRIBUTES.errorType]: _, ...used } = model;
  const tokens = (type: string, value: SpanAttribute | undefined): Measured[] =>
    typeof value === 'number'
      ? [{ name: METRICS.tokens, value, attributes: { ...used, [ATTRIBUTES.tokenType]: type } }]
      : [];
  const first = attributes[ATTRIBUTES.responseTimeToFirstChunk];
  return [
    { name: METRICS.duration, value: seconds, attributes: model },
    ...(typeof first === 'number' ? [{ name: METRICS.firstChunk, value: first, attributes: model }] : []),
    ...tokens('input', attributes[ATTRIBUTES.usageInput]),
    ...tokens('output', attributes[ATTRIBUTES.usageOutput]),
  ];
}

interface Series {
  readonly name: MetricName;
  readonly attributes: SpanAttributes;
  readonly counts: number[];
  count: number;
  sum: number;
  min: number;
  max: number;
}

/** Counts what spans add to metrics, until they are sent. */
export class Histograms {
  readonly #series = new Map<string, Series>();
  #from = 0;
  #to = 0;

  /** Adds what a span states. */
  add(span: Span): void {
    this.#from ||= span.startMs;
    this.#to = Math.max(this.#to, span.endMs);
    for (const { name, value, attributes } of measuredIn(span)) this.#count(name, value, attributes);
  }

  /** What was counted since the last call, as `ExportMetricsServiceRequest` of OTLP in JSON; undefined for nothing. */
  drain(world: string, service: string = SERVICE): string | undefined {
    if (this.#series.size === 0) return undefined;
    const metrics = Object.entries(KINDS).flatMap(([name, { unit, bounds }]) => {
      const of = [...this.#series.values()].filter((series) => series.name === name);
      const dataPoints = of.map((series) => this.#point(series, bounds));
      return of.length === 0 ? [] : [{ name, unit, histogram: { aggregationTemporality: 1, dataPoints } }];
    });
    this.#series.clear();
    [this.#from, this.#to] = [this.#to, 0];
    const scopeMetrics = [{ scope: SCOPE, metrics, schemaUrl: SCHEMA_URL }];
    const resource = { attributes: otlpAttributes(resourceOf(world, service)) };
    return JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics }] });
  }

  #count(name: MetricName, value: number, attributes: SpanAttributes): void {
    const key = `${name} ${JSON.stringify(attributes)}`;
    const isBeyond = !this.#series.has(key) && this.#series.size >= METRIC_SETS_MAX;
    const at = isBeyond ? `${name} ${JSON.stringify(BEYOND)}` : key;
    const series = this.#series.get(at) ?? newSeries(name, isBeyond ? BEYOND : attributes);
    this.#series.set(at, series);
    const bucket = KINDS[name].bounds.findIndex((bound) => value <= bound);
    const last = KINDS[name].bounds.length;
    const i = bucket < 0 ? last : bucket;
    series.counts[i] = (series.counts[i] ?? 0) + 1;
    series.count++;
    series.sum += value;
    series.min = Math.min(series.min, value);
    series.max = Math.max(series.max, value);
  }

  #point({ attributes, counts, count, sum, min, max }: Series, bounds: readonly number[]): object {
    return {
      ...{
        attributes: otlpAttributes(attributes),
        startTimeUnixNano: nanos(this.#from),
        timeUnixNano: nanos(this.#to),
      },
      ...{ count: String(count), sum, min, max, bucketCounts: counts.map(String), explicitBounds: bounds },
    };
  }
}

function newSeries(name: MetricName, attributes: SpanAttributes): Series {
  const counts = new Array<number>(KINDS[name].bounds.length + 1).fill(0);
  return { name, attributes, counts, count: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY };
}
