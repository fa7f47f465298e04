/** Server-sent events: from bytes as they arrive to the data of events. */

/** Reads a stream of events piece by piece; a piece may end anywhere, inside a character too. */
export class EventStream {
  private readonly decoder = new TextDecoder('utf-8');
  private line = '';
  private data: string[] = [];
  private afterReturn = false;

  /** The data of the events that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    for (const unit of this.decoder.decode(bytes, { stream: true })) {
      const lineFeedOfPair = this.afterReturn && unit === '\n';
      this.afterReturn = unit === '\r';
      if (lineFeedOfPair) continue;
      if (unit !== '\n' && unit !== '\r') this.line += unit;
      else this.endLine(events);
    }
    return events;
  }

  private endLine(events: string[]): void {
    const { line } = this;
    this.line = '';
    if (line === '') {
      if (this.data.length > 0) events.push(this.data.join('\n'));
      this.data = [];
    } else if (line.startsWith('data:')) this.data.push(line.slice(line[5] === ' ' ? 6 : 5));
  }
}
