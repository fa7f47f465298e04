/** Parses server-sent events: from arriving bytes to the data of each event. */

/** The largest line and the largest data of one event, in bytes: an event may repeat a whole answer. */
const EVENT_BYTES_MAX = 16 * 1024 * 1024;

/** The longest name of an event that is read: no format has longer ones. */
const EVENT_NAME_MAX = 128;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The data of an event with the event's name, and after how many bytes of the piece the event ended. */
interface EventData {
  readonly data: string;
  readonly name: string;
  readonly end: number;
}

/**
 * Parses a stream of events piece by piece; a piece may end anywhere, even inside a character.
 *
 * Lines are collected as bytes, so memory use stays linear in the bound even for tiny pieces. No byte of a multi-byte
 * character is a line end, so a line is decoded when it is complete.
 */
export class EventStream {
  /** Whether a line or an event exceeded the bound. Nothing after it is read. */
  tooLarge = false;

  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private readonly line: LineBytes;
  private data: string[] = [];
  private name = '';
  private dataBytes = 0;
  private afterReturn = false;
  private first = true;

  constructor(private readonly bytesMax = EVENT_BYTES_MAX) {
    this.line = new LineBytes(bytesMax);
  }

  /** The data of the events that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    return this.read(bytes).map(({ data }) => data);
  }

  /** The events that these bytes complete, each with its position in them. */
  read(bytes: Uint8Array): EventData[] {
    const events: EventData[] = [];
    // The second half of a line end that was cut in two does not end another line.
    let at = this.afterReturn && bytes[0] === LINE_FEED ? 1 : 0;
    if (bytes.length > 0) this.afterReturn = false;
    while (at < bytes.length && !this.tooLarge) {
      const end = lineEnd(bytes, at);
      if (!this.line.add(bytes.subarray(at, end))) this.tooLarge = true;
      else if (end < bytes.length) this.endLine(end + 1, events);
      at = end + 1;
      if (bytes[end] !== CARRIAGE_RETURN) continue;
      if (at === bytes.length) this.afterReturn = true;
      else if (bytes[at] === LINE_FEED) at++;
    }
    return events;
  }

  private endLine(end: number, events: EventData[]): void {
    const bytes = this.line.take();
    const text = this.decoder.decode(bytes);
    const line = this.first && text.startsWith('\ufeff') ? text.slice(1) : text;
    this.first = false;
    if (line === '') {
      if (this.data.length > 0) events.push({ data: this.data.join('\n'), name: this.name, end });
      this.data = [];
      this.name = '';
      this.dataBytes = 0;
    } else if (line.startsWith('data:') || line === 'data') {
      this.dataBytes += bytes.length;
      if (this.dataBytes > this.bytesMax) this.tooLarge = true;
      else this.data.push(line.slice(line[5] === ' ' ? 6 : 5));
    } else if (line.startsWith('event:')) this.name = line.slice(6, 6 + EVENT_NAME_MAX).trim();
  }
}

/** Where the line that begins at `from` ends; the length of the bytes when it does not end in them. */
function lineEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== LINE_FEED && bytes[at] !== CARRIAGE_RETURN) at++;
  return at;
}

/** The bytes of an incomplete line. */
class LineBytes {
  private bytes = new Uint8Array(256);
  private size = 0;

  constructor(private readonly bytesMax: number) {}

  /** Adds a piece; returns false when the line exceeds the bound. */
  add(piece: Uint8Array): boolean {
    const size = this.size + piece.length;
    if (size > this.bytesMax) return false;
    if (size > this.bytes.length) {
      const larger = new Uint8Array(Math.min(this.bytesMax, Math.max(size, this.bytes.length * 2)));
      larger.set(this.bytes.subarray(0, this.size));
      this.bytes = larger;
    }
    this.bytes.set(piece, this.size);
    this.size = size;
    return true;
  }

  /** Returns the line and starts a new one. */
  take(): Uint8Array {
    const line = this.bytes.subarray(0, this.size);
    this.size = 0;
    return line;
  }
}
