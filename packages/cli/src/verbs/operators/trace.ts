/** `reprise trace`: what agents did as spans: drawn as a tree, as OTLP/JSON, or sent to a collector. */
import type { ReadonlyStore } from '@reprise/kernel';
import { type ContentSource, OtlpSink, otlpTraces, type Span, storedFrames, Tracer, withContent } from '@reprise/otel';
import type { Io } from '../../process/io.js';
import { toJson } from '../../text/json.js';
import { withWorld } from '../../world/open.js';
import { RecentTraces, traceText } from './trace-text.js';

interface TraceArguments {
  /** The address of a collector: spans are sent there, and not printed. */
  readonly otlp?: string;
  readonly header?: readonly string[];
  readonly service?: string;
  /** Only spans that ended behind this frame. */
  readonly after?: number;
  readonly open?: true;
  readonly content?: true;
  /** The most traces that are drawn. */
  readonly limit?: number;
  readonly json?: true;
}

/** How many traces are drawn when no other number is given: the newest. */
const DRAWN = 10;

/** Draws the traces of a world, prints them as OTLP/JSON, or sends them. */
export async function trace(io: Io, world: string, options: TraceArguments): Promise<void> {
  await withWorld(world, async (store) => {
    if (options.otlp !== undefined) return send(io, store, { ...options, otlp: options.otlp });
    if (options.json === true) return print(io, store, options);
    const recent = new RecentTraces(options.limit ?? DRAWN);
    const head = await eachBatch(store, { ...options, open: true }, async (spans) => recent.take(spans));
    await io.out.write(traceText(recent, { world, head, after: options.after, columns: io.out.columns }));
  });
}

async function print(io: Io, store: ReadonlyStore, options: TraceArguments): Promise<void> {
  await eachBatch(store, options, (spans) => io.out.write(`${otlpTraces(spans, options.service)}\n`));
}

async function send(io: Io, store: ReadonlyStore, options: TraceArguments & { readonly otlp: string }): Promise<void> {
  const { otlp: url, header = [], service, json } = options;
  const sink = new OtlpSink({
    ...{ url, headers: headersOf(header), signal: io.interrupted() },
    ...(service === undefined ? {} : { service }),
  });
  let sent = 0;
  const cursor = await eachBatch(store, options, async (spans) => {
    await sink.send(spans);
    sent += spans.length;
  });
  const said = `Sent ${sent} ${sent === 1 ? 'span' : 'spans'}. To send what comes later: --after ${cursor}`;
  await io.out.write(json === true ? `${toJson({ ok: true, sent, cursor })}\n` : `${said}\n`);
}

/** Spans in one batch: one line of the output. */
const BATCH = 256;

/**
 * Reads the journal, and gives the spans that ended behind the cursor in batches. A fork shares its past with another world,
 * which has the spans that ended there.
 *
 * @returns the number of the last frame
 */
async function eachBatch(
  store: ReadonlyStore,
  { after = -1, open, content }: TraceArguments,
  take: (spans: readonly Span[]) => Promise<void>,
): Promise<number> {
  const fork = await store.journal.findLast('fork', Number.MAX_SAFE_INTEGER);
  const from = Math.max(after, fork === undefined ? -1 : fork.seq - 1);
  const source: ContentSource | undefined = content === true ? { reader: store.content } : undefined;
  const tracer = new Tracer();
  let batch: Span[] = [];
  const add = async (spans: readonly Span[]): Promise<void> => {
    for (const span of spans) batch.push(source === undefined ? span : await withContent(span, source));
  };
  for await (const frame of storedFrames(store)) {
    const ended = tracer.take(frame);
    if (frame.seq > from) await add(ended);
    if (batch.length < BATCH) continue;
    await take(batch);
    batch = [];
  }
  if (open === true) await add(tracer.open());
  if (batch.length > 0) await take(batch);
  return tracer.seq;
}

/** Headers as `name: value` or `name=value`. */
function headersOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((one) => {
      const [, name = '', value = ''] = /^([^:=]+)[:=](.*)$/s.exec(one) ?? [];
      return [name.trim(), value.trim()];
    }),
  );
}
