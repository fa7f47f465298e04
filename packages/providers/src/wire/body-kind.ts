/** Finds out whether a body is a stream of events or one JSON value, by what it is: headers are often wrong. */

/** The fields of an event; a line that begins with a colon is a comment. */
const FIELDS = ['data:', 'event:', 'id:', 'retry:', ':'];

/** Decides as soon as the first characters allow it. */
export class BodyKind {
  private readonly pieces: Uint8Array[] = [];
  private head = '';

  /** @param declared whether the header announces a stream of events */
  constructor(private readonly declared: boolean) {}

  /** Reads the next bytes; undefined while it is not clear. */
  take(bytes: Uint8Array): 'events' | 'json' | undefined {
    this.pieces.push(bytes);
    for (let at = 0; at < bytes.length && this.head.length < HEAD_LENGTH; at++) {
      const unit = String.fromCharCode(bytes[at] ?? 0);
      if (this.head !== '' || !BLANK.includes(unit)) this.head += unit;
    }
    return this.kind();
  }

  get bytes(): Uint8Array {
    const [first, ...more] = this.pieces;
    if (first === undefined || more.length === 0) return first ?? new Uint8Array();
    const all = new Uint8Array(this.pieces.reduce((sum, piece) => sum + piece.length, 0));
    let at = 0;
    for (const piece of this.pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }

  private kind(): 'events' | 'json' | undefined {
    const { head } = this;
    if (head === '') return undefined;
    if (head.startsWith('{') || head.startsWith('[')) return 'json';
    if (this.declared || FIELDS.some((field) => head.startsWith(field))) return 'events';
    return FIELDS.some((field) => field.startsWith(head)) ? undefined : 'json';
  }
}

/** As many characters as the longest field has. */
const HEAD_LENGTH = 6;

/** White space and the bytes of a byte-order mark, which may stand before a body. */
const BLANK = ' \t\r\n\u00ef\u00bb\u00bf';
