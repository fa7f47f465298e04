/**
 * Sends OTLP/JSON over HTTP by `fetch`, without a library.
 *
 * Invariants
 * H1  A request is repeated only when OTLP says that it may be, or when no answer came; at most {@link ATTEMPTS_MAX} times, and
 *     never after the signal was aborted.
 * H2  A wait that the collector asks for is kept; one that is longer than {@link WAIT_MS_MAX} ends the sending.
 * H3  No error shows the headers, nor the user and password of an address.
 */
import { isFields, isFilled, RepriseError } from '@reprise/contracts';
import { parseJson } from '@reprise/contracts/json';
import type { Clock } from '@reprise/kernel';
import { systemClock } from '@reprise/kernel/store';
import type { Span } from '../trace/span.js';
import { otlpTraces } from './json.js';

/** Spans in one request at most: what collectors take without a change of their configuration. */
const BATCH_SPANS_MAX = 512;

/** The text of one request at most, in characters, beyond its first span: collectors take 4 MiB and more. */
const BATCH_CHARS_MAX = 1024 * 1024;

/** How often one request is sent at most. */
const ATTEMPTS_MAX = 5;

/** The longest wait before an attempt, in milliseconds, also where a collector asks for more. */
const WAIT_MS_MAX = 30_000;

/** The first wait, in milliseconds; each further one is twice as long. */
const WAIT_MS = 500;

/** How long one request may take, in milliseconds. */
const REQUEST_MS_MAX = 10_000;

/** What OTLP says may be tried again. */
const AGAIN: readonly number[] = [429, 502, 503, 504];

/** Where spans are sent, and how. */
export interface OtlpOptions {
  /** The address of the collector, such as `http://localhost:4318`: `/v1/traces` and `/v1/metrics` are added where they are missing. */
  readonly url: string;
  /** Headers of each request, such as a key. They are shown in no error. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The name of the service; `reprise` when absent. */
  readonly service?: string;
  /** Ends the sending, with an error, when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** Where spans go: a collector, or an exporter of OpenTelemetry. */
export interface SpanSink {
  /**
   * Sends spans; resolves when the other side has them.
   *
   * @throws RepriseError `export_failed`
   */
  send(spans: readonly Span[]): Promise<void>;
}

/** A sink that sends spans to a collector, and metrics as OTLP/JSON. */
export class OtlpSink implements SpanSink {
  constructor(
    private readonly options: OtlpOptions,
    private readonly clock: Clock = systemClock,
  ) {}

  async send(spans: readonly Span[]): Promise<void> {
    for (const batch of batchesOf(spans)) await this.#post('traces', otlpTraces(batch, this.options.service));
  }

  /** Sends one request of metrics. @throws RepriseError `export_failed` */
  metrics(json: string): Promise<void> {
    return this.#post('metrics', json);
  }

  async #post(what: 'traces' | 'metrics', body: string): Promise<void> {
    const { url, authorization } = withoutPassword(addressOf(this.options.url, what));
    const { signal } = this.options;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt(url, body, authorization);
      if (answer.done) return;
      const wait = answer.askedMs ?? WAIT_MS * 2 ** (attempt - 1);
      const isOver = !answer.again || attempt >= ATTEMPTS_MAX || wait > WAIT_MS_MAX || signal?.aborted === true;
      if (isOver) throw exportFailed(url, answer.actual, answer.cause);
      await this.clock.sleep(wait, signal ?? new AbortController().signal);
    }
  }

  async #attempt(url: URL, body: string, authorization: Readonly<Record<string, string>>): Promise<Answer> {
    const { headers = {}, signal } = this.options;
    const limit = AbortSignal.timeout(REQUEST_MS_MAX);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...authorization, ...headers, 'content-type': 'application/json' },
        body,
        redirect: 'error',
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      const text = await response.text();
      if (response.ok) return accepted(text);
      const again = AGAIN.includes(response.status);
      const askedMs = waitIn(response.headers.get('retry-after'), this.clock.wall());
      return { done: false, again, askedMs, actual: `HTTP ${response.status}` };
    } catch (cause) {
      return { done: false, again: true, actual: 'no answer', cause };
    }
  }
}

type Answer =
  | { readonly done: true }
  | {
      readonly done: false;
      readonly again: boolean;
      readonly askedMs?: number | undefined;
      readonly actual: string;
      readonly cause?: unknown;
    };

/** A collector that took a part says how many it has rejected: they would be rejected again. */
function accepted(text: string): Answer {
  const rejected = rejectedIn(text);
  return rejected === 0 ? { done: true } : { done: false, again: false, actual: `${rejected} rejected` };
}

function rejectedIn(text: string): number {
  if (!isFilled(text)) return 0;
  try {
    const said = parseJson(text);
    const partial = isFields(said) && isFields(said.partialSuccess) ? said.partialSuccess : {};
    return Number(partial.rejectedSpans ?? partial.rejectedDataPoints ?? 0) || 0;
  } catch {
    return 0; // an answer of another kind behind a status of success
  }
}

function waitIn(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  // JavaScript engines parse almost any text as a date, even `-1`.
  const moment = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - nowMs);
}

/**
 * The address for one kind of data.
 *
 * @throws RepriseError `invalid_argument` for a text that is no address of HTTP
 */
export function addressOf(url: string, what: 'traces' | 'metrics'): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
    throw new RepriseError('invalid_argument', 'invalid address of a collector', {
      expected: 'an address of HTTP, such as http://localhost:4318',
      actual: parsed === undefined ? 'another text' : parsed.protocol,
    });
  }
  const path = parsed.pathname.replace(/\/+$/, '').replace(/\/v1\/(traces|metrics)$/, '');
  parsed.pathname = `${path}/v1/${what}`;
  return parsed;
}

/** An address without user and password, which `fetch` refuses, and the header that says the same. */
function withoutPassword(url: URL): { readonly url: URL; readonly authorization: Readonly<Record<string, string>> } {
  const { username, password } = url;
  if (username === '' && password === '') return { url, authorization: {} };
  const plain = new URL(url);
  [plain.username, plain.password] = ['', ''];
  const bytes = new TextEncoder().encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { url: plain, authorization: { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` } };
}

/** Spans in the batches in which they are sent. */
export function* batchesOf(spans: readonly Span[]): Generator<readonly Span[]> {
  let batch: Span[] = [];
  let chars = 0;
  for (const span of spans) {
    const own = charsOf(span);
    if (batch.length >= BATCH_SPANS_MAX || (batch.length > 0 && chars + own > BATCH_CHARS_MAX)) {
      yield batch;
      [batch, chars] = [[], 0];
    }
    batch.push(span);
    chars += own;
  }
  if (batch.length > 0) yield batch;
}

/** About the text of a span: that of its attributes, which alone can be long. */
function charsOf({ attributes }: Span): number {
  return Object.values(attributes).reduce<number>((sum, value) => sum + String(value).length + 64, 512);
}

/** An error about spans that could not be sent. */
export function exportFailed(to: URL | string, actual: string, cause?: unknown): RepriseError {
  return new RepriseError('export_failed', 'spans or metrics could not be sent', {
    where: to instanceof URL ? `${to.protocol}//${to.host}${to.pathname}` : to,
    expected: 'an answer that they were taken',
    actual,
    hint: 'The journal has all that they are made of: correct what is wrong, and send again from the last cursor.',
    ...(cause === undefined ? {} : { cause }),
  });
}
