/**
 * Sends the spans of an open world while it runs.
 *
 * Owns: how far was read and sent, and what happens when the other side does not take it. Does not own: what a span is
 * (`trace`), how spans travel (`otlp`).
 *
 * Invariants
 * L1  Only durable frames are read, one after another, and only when the ones before were handed on: nothing that happens here
 *     delays a commit. Reading gives way to the world after every {@link TURN_FRAMES} frames.
 * L2  At most {@link PENDING_SPANS_MAX} spans wait, beyond those of one frame. While they wait nothing more is read; later
 *     frames are read from the store, so memory does not grow while a collector is away.
 * L3  The cursor moves when spans were taken, and not before: a process that dies sends a batch again, with the same ids.
 * L4  No failure here reaches the world. Its owner hears of it, and what was not taken is sent again.
 */
import type { Clock, World } from '@reprise/kernel';
import { systemClock } from '@reprise/kernel/store';
import { withContent } from '../content/fill.js';
import type { SpanSink } from '../otlp/send.js';
import type { Span } from '../trace/span.js';
import { Tracer } from '../trace/tracer.js';
import type { Cursor, CursorFile } from './cursor.js';
import { Histograms } from './metrics.js';

/** The spans that wait to be sent at most. */
const PENDING_SPANS_MAX = 2_048;

/** After so many frames, reading gives way to everything else of the process. */
const TURN_FRAMES = 32;

/** How long spans are gathered before they are sent, in milliseconds. */
const FLUSH_MS = 1_000;

/** The longest pause before another try when spans were not taken, in milliseconds. */
const PAUSE_MS_MAX = 60_000;

/** How long a world that closes waits until its spans are sent, in milliseconds. */
const CLOSE_MS = 5_000;

/** A tracer is stored anew after so many frames: as many are read again at most when a process died. */
const STORE_FRAMES = 1_024;

/** What spans are sent with. */
export interface TelemetryParts {
  readonly world: Pick<World, 'id' | 'head' | 'frames' | 'content' | 'forked' | 'scrubber'>;
  readonly sink: SpanSink;
  readonly cursor: CursorFile;
  /** Whether spans hold the content of operations. */
  readonly content: boolean;
  /** Sends metrics; none are made when absent. */
  readonly metrics?: ((json: string) => Promise<void>) | undefined;
  readonly service?: string | undefined;
  /** Hears of what could not be sent or kept. */
  readonly onError: (error: unknown) => void;
  readonly clock?: Clock;
}

/** The sending of one open world. */
export class Telemetry {
  readonly #clock: Clock;
  readonly #histograms = new Histograms();
  readonly #stop = new AbortController();
  #tracer = new Tracer();
  #pending: Span[] = [];
  /** Every span up to this frame was taken. */
  #after = -1;
  #stored: { readonly seq: number; readonly bytes: Uint8Array } | undefined;
  #sending: Promise<void> | undefined;
  #isFlushDue = false;
  #isOver = false;
  #reading: Promise<void> | undefined;
  /** Who waits until a frame was read. */
  #awaited: { readonly seq: number; resolve(): void } | undefined;
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop.signal.addEventListener('abort', () => resolve(), { once: true });
  });

  constructor(private readonly parts: TelemetryParts) {
    this.#clock = parts.clock ?? systemClock;
  }

  /** Every span that ended in this frame or before was sent. */
  get after(): number {
    return this.#after;
  }

  /** Begins where the last process stopped. */
  async start(): Promise<void> {
    const { world, cursor } = this.parts;
    const known: Cursor | undefined = await cursor.load().catch(() => undefined);
    const tracer = known?.tracer === undefined ? undefined : restored(known.tracer);
    // A world that was restored is shorter than what was sent of it: what follows is other frames.
    const after = Math.min(known?.after ?? -1, world.head.seq);
    if (tracer !== undefined && tracer.seq <= after) this.#tracer = tracer;
    const shared = world.forked === undefined ? -1 : world.forked.seq;
    this.#after = Math.max(after, shared);
    this.#reading = this.#read()
      .catch((error: unknown) => this.#tell(error))
      .finally(() => {
        this.#isOver = true;
        this.#tellRead();
      });
  }

  /** Sends what has ended by now, for at most {@link CLOSE_MS}, and stops. */
  async stop(): Promise<void> {
    const closing = new AbortController();
    const inTime = this.#clock.sleep(CLOSE_MS, closing.signal);
    await Promise.race([this.#finish(), inTime]);
    closing.abort();
    this.#stop.abort();
    await this.#reading;
    await this.#keep(true);
  }

  /** Reads up to the last durable frame, and sends what waits. */
  async #finish(): Promise<void> {
    const { seq } = this.parts.world.head;
    await new Promise<void>((resolve) => {
      this.#awaited = { seq, resolve };
      this.#tellRead();
    });
    await this.#flush();
  }

  /** Tells who waits until a frame was read; when reading is over, nothing more comes. */
  #tellRead(): void {
    if (this.#awaited !== undefined && (this.#isOver || this.#tracer.seq >= this.#awaited.seq)) this.#awaited.resolve();
  }

  async #read(): Promise<void> {
    let left = TURN_FRAMES;
    for await (const frame of this.parts.world.frames(this.#tracer.seq + 1, this.#stop.signal)) {
      const ended = this.#tracer.take(frame);
      if (frame.seq > this.#after && ended.length > 0) this.#pending.push(...ended);
      this.#tellRead();
      if (this.#pending.length > 0) this.#flushLater();
      while (this.#pending.length >= PENDING_SPANS_MAX && !this.#stop.signal.aborted)
        await Promise.race([this.#flush(), this.#stopped]);
      if (this.#stop.signal.aborted) return;
      if (--left > 0) continue;
      left = TURN_FRAMES;
      await turn();
    }
  }

  #flushLater(): void {
    if (this.#isFlushDue || this.#stop.signal.aborted) return;
    this.#isFlushDue = true;
    void this.#clock.sleep(FLUSH_MS, this.#stop.signal).then(async () => {
      this.#isFlushDue = false;
      if (!this.#stop.signal.aborted) await this.#flush();
    });
  }

  /** Sends what waits, one batch at a time; tries again, after longer and longer pauses, until it is taken. */
  #flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#pending.length > 0) this.#flushLater(); // what came meanwhile
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    for (let pause = FLUSH_MS; this.#pending.length > 0; pause = Math.min(pause * 2, PAUSE_MS_MAX)) {
      const upTo = this.#tracer.seq;
      const spans = this.#pending.slice(); // more come meanwhile
      try {
        await this.parts.sink.send(await this.#filled(spans));
        this.#pending = this.#pending.slice(spans.length);
        this.#after = Math.max(this.#after, upTo);
        await this.#measure(spans);
        await this.#keep(false);
        return;
      } catch (error) {
        this.#tell(error);
        await this.#rest(pause);
        if (this.#stop.signal.aborted) return;
      }
    }
  }

  async #filled(spans: readonly Span[]): Promise<readonly Span[]> {
    const { world, content } = this.parts;
    if (!content) return spans;
    const source = { reader: world.content, scrubber: world.scrubber };
    const filled: Span[] = [];
    for (const span of spans) filled.push(await withContent(span, source));
    return filled;
  }

  async #measure(spans: readonly Span[]): Promise<void> {
    const { metrics, world, service } = this.parts;
    if (metrics === undefined) return;
    for (const span of spans) this.#histograms.add(span);
    const json = this.#histograms.drain(world.id, service);
    if (json !== undefined) await metrics(json).catch((error: unknown) => this.#tell(error));
  }

  /** Keeps the cursor; the tracer with it now and then, and at the end, when everything that it has given was taken. */
  async #keep(isLast: boolean): Promise<void> {
    const { seq } = this.#tracer;
    const isTaken = this.#pending.length === 0;
    if (isTaken) this.#after = Math.max(this.#after, seq);
    const isOld = seq - (this.#stored?.seq ?? -1) >= STORE_FRAMES;
    if (isTaken && (isOld || (isLast && this.#stored?.seq !== seq)))
      this.#stored = { seq, bytes: this.#tracer.stored() };
    const cursor = { after: this.#after, tracer: this.#stored?.bytes };
    await this.parts.cursor.save(cursor).catch((error: unknown) => this.#tell(error));
  }

  /** Waits before another try. A process that has nothing else to do ends meanwhile. */
  async #rest(ms: number): Promise<void> {
    if (this.parts.clock !== undefined) return this.#clock.sleep(ms, this.#stop.signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const rested = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
      if (typeof timer === 'object') timer.unref();
    });
    await Promise.race([rested, this.#stopped]);
    clearTimeout(timer);
  }

  #tell(error: unknown): void {
    try {
      this.parts.onError(error);
    } catch {
      // what hears of errors is telemetry as well: its own are dropped
    }
  }
}

function restored(bytes: Uint8Array): Tracer | undefined {
  try {
    return Tracer.from(bytes);
  } catch {
    return undefined; // the journal has all that it was made of
  }
}

/** Lets everything else of the process happen. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
