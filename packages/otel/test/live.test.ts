/** Telemetry of a world that runs. The adversaries: a collector that is away, one that is slow, and processes that stop between. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AgentWorld, defineAgent, openAgentWorld } from '@reprise/agent';
import type { JournalRecord } from '@reprise/contracts';
import { type Clock, memory, type Store, systemClock, type WorldFrame } from '@reprise/kernel';
import { llmGenerateAdapter, scriptBy } from '@reprise/providers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { otlpTraces, type Span, type SpanSink, startTelemetry, type TelemetryOptions, traces } from '../src/index.js';
import type { Cursor, CursorFile } from '../src/live/cursor.js';
import { Telemetry, type TelemetryParts } from '../src/live/telemetry.js';
import { framesIn } from './support/journals.js';
import { Receiver, spansIn } from './support/receiver.js';

/** The bound of [TRACE-16]. */
const PENDING_SPANS_MAX = 2_048;

const agent = defineAgent({ name: 'greeter', model: 'main', instructions: 'Greet.' });

let folder: string;
let receiver: Receiver;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reprise-otel-'));
  receiver = await Receiver.listen();
});
afterEach(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true });
});

function opened(store: Store, telemetry?: TelemetryOptions): Promise<AgentWorld> {
  const model = scriptBy(() => ({ text: 'Hello.', usage: { tokens_in: 10, tokens_out: 2 } }));
  return openAgentWorld({
    ...{ store, agents: [agent], models: { main: {} } },
    ...(telemetry === undefined ? {} : { observers: [({ kernel }: AgentWorld) => startTelemetry(kernel, telemetry)] }),
    llm: (judge) => llmGenerateAdapter({ main: model }, { judge }),
  });
}

async function turns(world: AgentWorld, n: number, key = 's'): Promise<void> {
  for (let i = 0; i < n; i++) await (await world.session(key, agent).send('Hi')).text();
}

async function allSpans(store: Store): Promise<string[]> {
  const reader = await store.openReadonly();
  const all: string[] = [];
  for await (const span of traces(await framesIn(reader))) all.push(...spanTexts(otlpTraces([span])));
  await reader.close();
  return all.sort();
}

function spanTexts(body: string): string[] {
  return spansIn(body).map((span) => JSON.stringify(span));
}

const received = (): string[] => receiver.requests.flatMap(({ body }) => spanTexts(body)).sort();

describe('the telemetry of a world that runs', () => {
  it('the spans of each turn are sent once, those of later processes from where the one before stopped, and the journal holds nothing of it [TRACE-1, TRACE-15]', async () => {
    const [store, plain] = [memory(), memory()];
    const telemetry = { url: receiver.url, cursor: path.join(folder, 'cursor') };
    for (let i = 0; i < 3; i++) {
      const world = await opened(store, telemetry);
      await turns(world, 2, `s${i}`);
      await world.close();
    }
    expect(received()).toEqual(await allSpans(store));
    expect(received().length).toBe(12);
    const world = await opened(plain);
    for (let i = 0; i < 3; i++) await turns(world, 2, `s${i}`);
    await world.close();
    const kinds = async (of: Store) =>
      (await framesIn(await of.openReadonly()))
        .map(({ records }) => records[0]?.kind)
        .filter((kind) => kind !== 'manifest');
    expect(await kinds(store)).toEqual(await kinds(plain));
  });

  it('a cursor that is lost, damaged or of another world sends everything again with the same bytes [TRACE-1]', async () => {
    const store = memory();
    const cursor = path.join(folder, 'cursor');
    for (const damage of [
      () => undefined,
      () => rmSync(cursor),
      () => writeFileSync(cursor, '{"version":1,"after":'),
    ]) {
      damage();
      const world = await opened(store, { url: receiver.url, cursor });
      await turns(world, 1);
      await world.close();
    }
    const all = await allSpans(store);
    const times = all.map((span) => received().filter((one) => one === span).length);
    expect([...times].sort()).toEqual([1, 1, 2, 2, 3, 3]);
    expect(received().filter((span) => !all.includes(span))).toEqual([]);
  });

  it('a turn ends while a collector does not answer, and what it was not sent arrives later [TRACE-14]', async () => {
    const store = memory();
    const errors: unknown[] = [];
    receiver.answers.push(...Array.from({ length: 100 }, () => [400] as [number]));
    const telemetry = {
      url: receiver.url,
      cursor: path.join(folder, 'cursor'),
      onError: (error: unknown) => errors.push(error),
    };
    const world = await opened(store, telemetry);
    await turns(world, 5);
    await expect.poll(() => errors.length).toBeGreaterThan(0);
    expect(world.kernel.closedBy).toBe(undefined);
    await turns(world, 1);
    receiver.answers.length = 0;
    receiver.requests.length = 0;
    await world.close();
    expect(received()).toEqual(await allSpans(store));
    expect(errors[0]).toMatchObject({ code: 'export_failed' });
  });

  it('metrics of the conventions are sent beside spans when they are asked for', async () => {
    const world = await opened(memory(), { url: receiver.url, metrics: true, cursor: path.join(folder, 'cursor') });
    await turns(world, 3);
    await world.close();
    const sent = receiver.requests.filter((request) => request.path === '/v1/metrics').map(({ body }) => body);
    const points = sent.flatMap((body) => metricsIn(body));
    const sum = (name: string, wanted?: string) =>
      points
        .filter((point) => point.name === name && (wanted === undefined || point.attributes.includes(wanted)))
        .reduce((total, { sum: part }) => total + part, 0);
    expect(sum('gen_ai.client.token.usage', '"input"')).toBe(30);
    expect(sum('gen_ai.client.token.usage', '"output"')).toBe(6);
    const counts = points.filter(({ name }) => name === 'gen_ai.client.operation.duration');
    expect(counts.reduce((total, { count }) => total + count, 0)).toBe(6);
    for (const { count, buckets } of points) expect(buckets.reduce((a, b) => a + b, 0)).toBe(count);
  });
});

interface Point {
  readonly name: string;
  readonly attributes: string;
  readonly sum: number;
  readonly count: number;
  readonly buckets: readonly number[];
}

function metricsIn(body: string): Point[] {
  const said = JSON.parse(body) as { resourceMetrics: { scopeMetrics: { metrics: RawMetric[] }[] }[] };
  return said.resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) =>
      metrics.flatMap(({ name, histogram }) =>
        histogram.dataPoints.map((point) => ({
          ...{ name, sum: point.sum, count: Number(point.count), attributes: JSON.stringify(point.attributes) },
          buckets: point.bucketCounts.map(Number),
        })),
      ),
    ),
  );
}

interface RawMetric {
  readonly name: string;
  readonly histogram: {
    readonly dataPoints: readonly {
      readonly sum: number;
      readonly count: string;
      readonly attributes: unknown;
      readonly bucketCounts: readonly string[];
    }[];
  };
}

const WORLD = 'ab'.repeat(32);

/** A journal in which each frame ends one span. */
function frameAt(seq: number): WorldFrame {
  const records =
    seq === 0
      ? [{ kind: 'manifest', world: WORLD }]
      : [
          { kind: 'clock' },
          {
            kind: 'effect',
            c: 0,
            effect: `e${seq}`,
            plan: ['app/Cell@1', 'k', seq],
            name: 'llm.generate@2',
            params: PARAMS,
          },
          { kind: 'settled', c: 0, effect: `e${seq}`, status: 'ok', code: null, by: 'cell' },
        ];
  return { seq, at: seq, head: '', records: records as unknown as readonly JournalRecord[] };
}

const PARAMS = { model: 'main', session: { key: 's', labels: {} }, window: { from: 0 } };

/** A world with so many frames; it notes how far it was read. */
class FrameWorld {
  readonly id = WORLD;
  readonly forked = undefined;
  readonly scrubber = undefined as never;
  readonly content = undefined as never;
  read = -1;

  constructor(readonly frameCount: number) {}

  get head() {
    return { seq: this.frameCount - 1, digest: '' };
  }

  async *frames(from = 0, signal?: AbortSignal) {
    for (let seq = from; seq < this.frameCount; seq++) {
      this.read = seq;
      yield frameAt(seq);
    }
    await new Promise<void>((resolve) => {
      if (signal?.aborted === true) resolve();
      signal?.addEventListener('abort', () => resolve());
    });
  }
}

/** A cursor in memory, with all that was kept. */
class KeptCursor implements CursorFile {
  readonly kept: Cursor[] = [];
  load = async () => this.kept.at(-1);
  save = async (cursor: Cursor) => {
    this.kept.push(cursor);
  };
}

/** A sink whose sendings are held until they are let go, or fail. */
class HeldSink implements SpanSink {
  readonly taken: Span[] = [];
  readonly held: { readonly spans: readonly Span[]; done(error?: Error): void }[] = [];

  send(spans: readonly Span[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (error?: Error) => {
        if (error !== undefined) return reject(error);
        this.taken.push(...spans);
        resolve();
      };
      this.held.push({ spans, done });
    });
  }
}

/** A clock that goes a hundred times as fast. */
const FAST: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};

function telemetryOf(world: FrameWorld, sink: SpanSink, cursor: CursorFile): Telemetry {
  const parts = { world, sink, cursor, content: false, onError: () => undefined, clock: FAST };
  return new Telemetry(parts as unknown as TelemetryParts);
}

describe('the sending of many spans', () => {
  it('reading stops while so many spans wait, and goes on from the store when they were taken [TRACE-16]', async () => {
    const world = new FrameWorld(4 * PENDING_SPANS_MAX);
    const sink = new HeldSink();
    const telemetry = telemetryOf(world, sink, new KeptCursor());
    await telemetry.start();
    await expect.poll(() => world.read).toBe(PENDING_SPANS_MAX);
    expect(sink.held.length).toBe(1);
    for (let i = 0; sink.taken.length < world.frameCount - 1; i++) {
      await expect.poll(() => sink.held.length).toBeGreaterThan(i);
      expect(world.read - sink.taken.length).toBeLessThanOrEqual(PENDING_SPANS_MAX + 1);
      sink.held[i]?.done();
    }
    expect(new Set(sink.taken.map(({ spanId }) => spanId)).size).toBe(world.frameCount - 1);
    await telemetry.stop();
  });

  it('a cursor never names a frame whose spans were not taken, however often sending fails, and who goes on from any of them misses none [TRACE-15]', async () => {
    const world = new FrameWorld(300);
    const [sink, cursor] = [new HeldSink(), new KeptCursor()];
    const telemetry = telemetryOf(world, sink, cursor);
    await telemetry.start();
    for (let i = 0; sink.taken.length < world.frameCount - 1; i++) {
      await expect.poll(() => sink.held.length).toBeGreaterThan(i);
      sink.held[i]?.done(i % 3 === 1 ? undefined : new Error('away'));
      const after = cursor.kept.at(-1)?.after ?? -1;
      expect(sink.taken.filter(({ frame }) => frame <= after).length).toBe(Math.max(0, after));
    }
    await telemetry.stop();
    expect(cursor.kept.at(-1)?.after).toBe(world.head.seq);
    for (const { after, tracer } of cursor.kept) {
      const [again, next] = [new HeldSink(), new KeptCursor()];
      next.kept.push({ after, tracer });
      const other = telemetryOf(world, again, next);
      await other.start();
      const missing = world.head.seq - after;
      for (let i = 0; again.taken.length < missing; i++) {
        await expect.poll(() => again.held.length).toBeGreaterThan(i);
        again.held[i]?.done();
      }
      await other.stop();
      expect(again.taken.map(({ frame }) => frame)).toEqual(Array.from({ length: missing }, (_, i) => after + 1 + i));
    }
  });

  it('a world closes although nothing that is sent is ever answered [TRACE-14]', async () => {
    const world = new FrameWorld(3 * PENDING_SPANS_MAX);
    const [sink, cursor] = [new HeldSink(), new KeptCursor()];
    const telemetry = telemetryOf(world, sink, cursor);
    await telemetry.start();
    await expect.poll(() => world.read).toBe(PENDING_SPANS_MAX);
    await telemetry.stop();
    expect(cursor.kept.at(-1)?.after).toBe(-1);
  });

  it('the file of a cursor is replaced whole, and names its world', async () => {
    const store = memory();
    const cursor = path.join(folder, 'deep', 'cursor');
    const world = await opened(store, { url: receiver.url, cursor });
    await turns(world, 1);
    await world.close();
    const said = JSON.parse(readFileSync(cursor, 'utf8')) as { world: string; after: number; tracer: string };
    expect(said).toMatchObject({ world: world.kernel.id });
    expect(said.after).toBeGreaterThan(0);
    expect(said.tracer.length).toBeLessThan(4_096);
  });
});
