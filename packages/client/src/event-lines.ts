/** Server-sent events from bytes that come in any pieces. A message that is cut off does not count. */

/** A message of a stream. */
export interface StreamMessage {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

/** Reads messages; what stands behind the last whole one waits for more bytes. */
export class EventLines {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #data: string[] = [];
  #event = 'message';
  #id: string | undefined;

  /** The messages that are whole with these bytes. */
  take(bytes: Uint8Array): StreamMessage[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const found: StreamMessage[] = [];
    for (let end = this.#rest.search(/\r\n|\n|\r(?!$)/); end >= 0; end = this.#rest.search(/\r\n|\n|\r(?!$)/)) {
      const line = this.#rest.slice(0, end);
      this.#rest = this.#rest.slice(end + (this.#rest.startsWith('\r\n', end) ? 2 : 1));
      const message = this.#line(line);
      if (message !== undefined) found.push(message);
    }
    return found;
  }

  #line(line: string): StreamMessage | undefined {
    if (line === '') return this.#end();
    const [, field = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#event = value;
    if (field === 'id') this.#id = value;
    return undefined; // a comment, or a field that is not known
  }

  #end(): StreamMessage | undefined {
    const message = { event: this.#event, id: this.#id, data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#data = [];
    this.#event = 'message';
    this.#id = undefined;
    return isEmpty ? undefined : message;
  }
}
