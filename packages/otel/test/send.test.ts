/** Sending: OTLP/JSON over HTTP to a real server, and an exporter of the SDK of OpenTelemetry. */

import { inspect } from 'node:util';
import { InMemorySpanExporter, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { isRepriseError } from '@reprise/contracts';
import type { Clock } from '@reprise/kernel';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { OtlpSink, otlpTraces, type SdkExporter, SdkSink, type SdkSpan, type Span, Tracer } from '../src/index.js';
import { batchesOf } from '../src/otlp/send.js';
import { journalOf } from './support/journals.js';
import { type Answer, Receiver, spansIn } from './support/receiver.js';

/** A clock whose waits are over at once, and noted. */
class NotedClock implements Clock {
  readonly waits: number[] = [];
  wall = () => Date.UTC(2026, 10, 30);
  monotonic = () => 0;
  sleep = async (ms: number) => {
    this.waits.push(ms);
  };
}

let receiver: Receiver;
let clock: NotedClock;
let spans: readonly Span[];

beforeEach(async () => {
  receiver = await Receiver.listen();
  clock = new NotedClock();
  const tracer = new Tracer();
  spans = (await journalOf('sessions', 1)).flatMap((frame) => tracer.take(frame));
});
afterEach(() => receiver.close());

function sink(more: Partial<ConstructorParameters<typeof OtlpSink>[0]> = {}): OtlpSink {
  return new OtlpSink({ url: receiver.url, ...more }, clock);
}

describe('spans that are sent to a collector', () => {
  it('spans arrive as OTLP/JSON, with the headers of their owner and the ids that they have', async () => {
    await sink({ headers: { 'x-key': 'k' }, service: 'shop' }).send(spans);
    const [request] = receiver.requests;
    expect(request?.path).toBe('/v1/traces');
    expect(request?.headers).toMatchObject({ 'x-key': 'k', 'content-type': 'application/json' });
    expect(request?.body).toBe(otlpTraces(spans, 'shop'));
    expect(spansIn(request?.body ?? '').map(({ spanId }) => spanId)).toEqual(spans.map(({ spanId }) => spanId));
  });

  it('a request is tried again after 429, 502, 503 and 504 and after no answer, as long as Retry-After says, and a date is understood too [TRACE-17]', async () => {
    receiver.answers.push(
      [429, { 'retry-after': '7' }],
      [503],
      [502, { 'retry-after': 'Mon, 30 Nov 2026 00:00:11 GMT' }],
      'cut',
    );
    await sink().send(spans);
    expect(receiver.requests.length).toBe(5);
    expect(clock.waits).toEqual([7_000, 1_000, 11_000, 4_000]);
    expect(new Set(receiver.requests.map(({ body }) => body)).size).toBe(1);
  });

  it.each([
    ['a status that is no invitation to try again', [[400]], 1, 'HTTP 400'],
    ['too many attempts', Array.from({ length: 5 }, () => [503]), 5, 'HTTP 503'],
    ['a wait that is too long', [[429, { 'retry-after': '31' }]], 1, 'HTTP 429'],
    ['spans that a collector has rejected', [[200, {}, '{"partialSuccess":{"rejectedSpans":"2"}}']], 1, '2 rejected'],
  ] as const)(
    'sending fails with export_failed for %s, and no header is shown [TRACE-17]',
    async (_, answers, requests, actual) => {
      receiver.answers.push(...(answers as unknown as Answer[]));
      const error: unknown = await sink({ headers: { authorization: 'canary-key' } })
        .send(spans)
        .catch((thrown: unknown) => thrown);
      expect(isRepriseError(error, 'export_failed')).toBe(true);
      expect(String((error as Error).message)).toContain(actual);
      expect(JSON.stringify(error) + String(error)).not.toContain('canary-key');
      expect(receiver.requests.length).toBe(requests);
    },
  );

  it('an address that cannot be parsed, or is not of HTTP, is refused, and its password is shown in no error', async () => {
    for (const url of ['nowhere', 'file:///etc/passwd'])
      await expect(sink({ url }).send(spans)).rejects.toMatchObject({ code: 'invalid_argument' });
    receiver.answers.push([404]);
    const secret = receiver.url.replace('http://', 'http://me:canary@');
    const error: unknown = await sink({ url: secret })
      .send(spans)
      .catch((thrown: unknown) => thrown);
    expect(`${String(error)} ${JSON.stringify(error)} ${inspect(error)}`).not.toContain('canary');
    expect(receiver.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:canary').toString('base64')}`);
  });

  it('many spans are sent in batches', () => {
    const [span] = spans;
    if (span === undefined) throw new Error('there is no span');
    const sizes = [...batchesOf(Array.from({ length: 2 * 512 + 1 }, () => span))].map(({ length }) => length);
    expect(sizes).toEqual([512, 512, 1]);
    const large = { ...span, attributes: { text: 'x'.repeat(600_000) } };
    expect([...batchesOf([large, large, large])].map(({ length }) => length)).toEqual([1, 1, 1]);
  });
});

describe('spans that an exporter of OpenTelemetry takes', () => {
  it('the types fit those of the SDK in both directions', () => {
    expectTypeOf<SpanExporter>().toExtend<SdkExporter>();
    expectTypeOf<SdkSpan>().toExtend<ReadableSpan>();
  });

  it('an exporter of the SDK gets the same ids, times, parents and attributes', async () => {
    const exporter = new InMemorySpanExporter();
    await new SdkSink(exporter, 'shop').send(spans);
    expect(
      exporter.getFinishedSpans().map((span) => ({
        id: span.spanContext().spanId,
        parent: span.parentSpanContext?.spanId ?? null,
        attributes: span.attributes,
        startMs: span.startTime[0] * 1_000 + span.startTime[1] / 1e6,
        endMs: span.endTime[0] * 1_000 + span.endTime[1] / 1e6,
        service: span.resource.attributes['service.name'],
      })),
    ).toEqual(
      spans.map(({ spanId: id, parentSpanId: parent, attributes, startMs, endMs }) => ({
        ...{ id, parent, attributes, startMs, endMs, service: 'shop' },
      })),
    );
  });

  it('an exporter that fails, or throws, ends the sending with export_failed', async () => {
    const failing: SdkExporter[] = [
      { export: (_, done) => done({ code: 1, error: new Error('full') }), shutdown: async () => undefined },
      {
        export: () => {
          throw new Error('broken');
        },
        shutdown: async () => undefined,
      },
    ];
    for (const exporter of failing)
      await expect(new SdkSink(exporter).send(spans)).rejects.toMatchObject({ code: 'export_failed' });
  });
});
