/** One JSON object a line, over a socket. A line beyond the bound, or of no object, breaks the connection. */

import type { Socket } from 'node:net';
import { JoinedBytes } from '@reprise/contracts';
import { type LargeNumbers, parseJsonNoting } from '@reprise/contracts/json';
import { BRIDGE_LINE_BYTES_MAX, BRIDGE_UNREAD_BYTES_MAX } from './limits.js';

const NEWLINE = 0x0a;

/** The JSON object that a line holds. */
export type Line = Readonly<Record<string, unknown>>;

interface LineHearing {
  /**
   * A line has come. What it throws breaks the connection, with its message as the reason.
   *
   * @param numbers the numbers of the line that stand in it as texts
   */
  line(line: Line, numbers: LargeNumbers): void;
  /** The connection is over. `why` says how the other side broke the protocol, if it did. */
  over(why?: string): void;
}

/** A connection that carries one JSON object in each line. */
export class LineSocket {
  /** The current line: joined as it comes, for the other side chooses how small its pieces are. */
  readonly #line = new JoinedBytes();
  #over = false;

  constructor(
    private readonly socket: Socket,
    private readonly hearing: LineHearing,
  ) {
    socket.on('data', (bytes: Uint8Array) => this.#take(bytes));
    socket.on('error', () => undefined); // followed by `close`
    socket.on('close', () => this.end());
  }

  /** Sends a line. @throws RangeError when it is beyond the bound */
  send(line: Line): void {
    const text = textOf(line);
    if (this.#over) return;
    this.socket.write(`${text}\n`);
    if (this.socket.writableLength > BRIDGE_UNREAD_BYTES_MAX) this.end('it does not read its lines');
  }

  /** Sends a last line, and closes the connection. */
  last(line: Line): void {
    if (this.#over) return;
    this.socket.end(`${textOf(line)}\n`);
    this.#finish();
  }

  /** Closes the connection at once. @param why what its hearing is told: a broken rule; absent for an ordinary end */
  end(why?: string): void {
    if (this.#over) return;
    this.socket.destroy();
    this.#finish(why);
  }

  #finish(why?: string): void {
    this.#over = true;
    this.#line.take();
    this.hearing.over(why);
  }

  #take(bytes: Uint8Array): void {
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0 && !this.#over; at = bytes.indexOf(NEWLINE, from)) {
      if (this.#add(bytes.subarray(from, at))) this.#read();
      from = at + 1;
    }
    if (!this.#over && from < bytes.length) this.#add(bytes.subarray(from));
  }

  #add(piece: Uint8Array): boolean {
    const length = this.#line.length + piece.length;
    if (length > BRIDGE_LINE_BYTES_MAX) this.end(`a line has more than ${BRIDGE_LINE_BYTES_MAX} bytes`);
    else this.#line.add(piece);
    return !this.#over;
  }

  #read(): void {
    const { buffer, byteOffset, length } = this.#line.take();
    const text = Buffer.from(buffer, byteOffset, length).toString('utf8');
    try {
      const { data: line, count, large } = parseJsonNoting(text);
      if (typeof line !== 'object' || line === null || Array.isArray(line)) throw new Error('a line is no object');
      this.hearing.line(line as Line, { count, large });
    } catch (error) {
      this.end(error instanceof SyntaxError ? 'a line is no JSON' : (error as Error).message);
    }
  }
}

function textOf(line: Line): string {
  const text = JSON.stringify(line);
  if (text.length > BRIDGE_LINE_BYTES_MAX || Buffer.byteLength(text) > BRIDGE_LINE_BYTES_MAX) {
    throw new RangeError(`a line of more than ${BRIDGE_LINE_BYTES_MAX} bytes`);
  }
  return text;
}
