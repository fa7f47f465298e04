/**
 * Assigns the pieces of a streamed chat answer to calls.
 *
 * Servers mark pieces by a number, by an id, by both or by neither, in several ways: numbers may start anywhere, all
 * calls may have the number 0, and an id may be in the first piece, in each piece, or new in each piece.
 *
 * Invariants
 * C1  Total: every piece belongs to exactly one call, or the stream is malformed. So it is when a piece cannot be read.
 * C2  An id or a name starts a call; every finished call has a name.
 * C3  Calls under one number each have their own id and their own complete arguments.
 * C4  Arguments under a number that no call has belong to the call before, if it is the only open one and has none yet.
 */
import { exactJsonText } from '@reprise/contracts/json';
import { isJsonObject } from '../model/json.js';
import { type Fields, textIn } from '../wire/answer-stream.js';

/** The most calls that one stream may hold: more than any real answer; only 64 are stored. */
const STREAM_CALLS_MAX = 256;

/** A piece of a call with the server's marks. */
interface Piece {
  /** The piece's number; undefined when it has no valid number. */
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly custom: boolean;
}

/** A call that is still growing. */
interface Slot {
  readonly place: number;
  readonly index: number | undefined;
  id: string;
  name: string;
  args: string;
  custom: boolean;
  readonly scan: ObjectScan;
}

/** What a piece added to the arguments of the call at this index. */
interface Added {
  readonly place: number;
  readonly args: string;
}

/** Builds the calls of a streamed answer. */
export class ChatCalls {
  private readonly slots: Slot[] = [];
  private readonly byIndex = new Map<number, Slot[]>();
  private readonly byId = new Map<string, Slot>();
  /** Codes of departures from the format that leave one reading. */
  readonly warnings: string[] = [];

  /** Whether a call has started. */
  get any(): boolean {
    return this.slots.length > 0;
  }

  /** Reads a piece; undefined when it is unclear which call it belongs to. */
  take(fields: Fields): Added | undefined {
    const piece = pieceOf(fields);
    if (piece === undefined) return undefined;
    const slot = piece.index === undefined ? this.unnumbered(piece) : this.numbered(piece, piece.index);
    if (slot === undefined) return says(piece) ? undefined : { place: 0, args: '' };
    if (slot.id === '') this.name(slot, piece.id);
    if (slot.name !== piece.name) slot.name += piece.name;
    slot.custom ||= piece.custom;
    slot.args += piece.args;
    slot.scan.add(piece.args);
    return { place: slot.place, args: piece.args };
  }

  /** The calls in the form of an answer that did not stream; undefined when one of them is incomplete. */
  whole(): Record<string, unknown>[] | undefined {
    if (this.slots.some(({ name }) => name === '')) return undefined;
    const shared = [...this.byIndex.values()].filter((slots) => slots.length > 1).flat();
    if (shared.some(({ scan }) => !scan.whole)) return undefined;
    return this.slots.map(({ id, name, args, custom }) => ({
      ...(id === '' ? {} : { id }),
      ...(custom ? { type: 'custom', custom: { name, input: args } } : { function: { name, arguments: args } }),
    }));
  }

  private numbered(piece: Piece, index: number): Slot | undefined {
    const there = this.byIndex.get(index) ?? [];
    const last = there.at(-1);
    const known = piece.id === '' ? undefined : this.byId.get(piece.id);
    if (last === undefined) {
      if (known !== undefined && known.index === undefined) return this.goOn(known, piece);
      const opens = piece.name !== '' || (piece.id !== '' && known === undefined);
      if (opens) return this.open(piece);
      return piece.id === '' ? this.misnumbered(index) : undefined;
    }
    if (piece.id === '') return there.slice(0, -1).every(({ scan }) => scan.whole) ? this.goOn(last, piece) : undefined;
    if (last.id === '' || last.id === piece.id) return this.goOn(last, piece);
    if (known !== undefined) return known.index === index ? this.goOn(known, piece) : undefined;
    if (piece.name !== '') return this.open(piece);
    // Some servers make a new id for each piece: the number decides while only one call has it.
    return there.length === 1 ? last : undefined;
  }

  /**
   * The call of arguments that come under the next number, without an id and a name: the only one that is still open, if
   * it has the number before (C4).
   */
  private misnumbered(index: number): Slot | undefined {
    const open = this.slots.filter(({ scan }) => !scan.whole);
    const [only] = open;
    if (only === undefined || open.length > 1 || only.index !== index - 1 || only.args.trim() !== '') return undefined;
    if (only !== this.slots.at(-1)) return undefined;
    this.byIndex.set(index, [only]);
    this.warnings.push('arguments_under_next_index');
    return only;
  }

  private unnumbered(piece: Piece): Slot | undefined {
    if (piece.id !== '') {
      const known = this.byId.get(piece.id);
      return known === undefined ? this.open(piece) : this.goOn(known, piece);
    }
    const last = this.slots.at(-1);
    if (last === undefined) return piece.name === '' ? undefined : this.open(piece);
    // Without marks, pieces can be assigned only when the calls come one after the other.
    if (!this.slots.every((slot) => slot === last || slot.scan.whole)) return undefined;
    const otherName = piece.name !== '' && last.name !== '' && piece.name !== last.name;
    return otherName && last.args === '' ? undefined : this.goOn(last, piece);
  }

  /** Continues an existing call, or starts another one where that is certain. */
  private goOn(slot: Slot, piece: Piece): Slot | undefined {
    if (piece.name === '' || slot.name === '') return slot;
    const marked = piece.id !== '' && piece.id === slot.id;
    if (piece.name === slot.name) {
      // The name may repeat in each piece. With new arguments, it may belong to another call.
      if (!slot.scan.whole || piece.args.trim() === '') return slot;
      const another = !slot.scan.empty && piece.args !== slot.args && piece.args.trimStart().startsWith('{');
      return another && !marked ? this.open(piece) : undefined;
    }
    if (slot.args === '') return slot;
    return slot.scan.whole && !marked ? this.open(piece) : undefined;
  }

  private open({ index, id }: Piece): Slot | undefined {
    if (this.slots.length === STREAM_CALLS_MAX) return undefined;
    const slot: Slot = {
      place: this.slots.length,
      index,
      id: '',
      name: '',
      args: '',
      custom: false,
      scan: new ObjectScan(),
    };
    this.slots.push(slot);
    this.name(slot, id);
    if (index !== undefined) this.byIndex.set(index, [...(this.byIndex.get(index) ?? []), slot]);
    return slot;
  }

  private name(slot: Slot, id: string): void {
    if (id === '') return;
    slot.id = id;
    this.byId.set(id, slot);
  }
}

function pieceOf({ index, id, type, function: given, custom: free }: Fields): Piece | undefined {
  const custom = isJsonObject(free) || type === 'custom';
  const fields: Fields = isJsonObject(given) ? given : isJsonObject(free) ? free : {};
  const args = fields.arguments ?? fields.input;
  const isText = (field: unknown) => field === undefined || field === null || typeof field === 'string';
  const holder = given ?? free;
  if (holder !== undefined && holder !== null && !isJsonObject(holder)) return undefined;
  if (
    !isIndex(index) ||
    !isText(id) ||
    !isText(fields.name) ||
    !(isText(args) || isJsonObject(args) || Array.isArray(args))
  )
    return undefined;
  return {
    index: typeof index === 'number' && Number.isInteger(index) ? index : undefined,
    id: textIn(id),
    name: textIn(fields.name),
    args: typeof args === 'object' && args !== null ? exactJsonText(args) : textIn(args),
    custom,
  };
}

/** Whether a number marks a piece, or no number does: any other mark cannot be read. */
function isIndex(index: unknown): boolean {
  return index === undefined || index === null || Number.isInteger(index);
}

function says({ id, name, args }: Piece): boolean {
  return id !== '' || name !== '' || args !== '';
}

/** Detects the end of the JSON object at the start of a text that arrives in pieces. */
class ObjectScan {
  /** Whether the text is one complete object. */
  whole = false;
  /** Whether the object is empty. */
  empty = true;
  private depth = 0;
  private inString = false;
  private escaped = false;
  private spoilt = false;

  add(text: string): void {
    for (let at = 0; at < text.length && !this.spoilt; at++) this.take(text.charAt(at));
  }

  private take(unit: string): void {
    if (this.inString) {
      if (this.escaped) this.escaped = false;
      else if (unit === '\\') this.escaped = true;
      else if (unit === '"') this.inString = false;
      return;
    }
    if (' \t\n\r'.includes(unit)) return;
    if (this.whole || (this.depth === 0 && unit !== '{')) {
      this.spoilt = true;
      this.whole = false;
      return;
    }
    if (unit === '{' || unit === '[') this.depth++;
    else if (unit === '}' || unit === ']') this.depth--;
    else this.empty = false;
    this.inString = unit === '"';
    this.whole = this.depth === 0;
  }
}
