/**
 * Finds the top-level fields of a leaf without decoding it. Sound only for bytes this kernel has written or
 * decoded before: it trusts them to be canonical.
 */

/** A field's name and where its value's bytes are. */
export interface FieldSlice {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const MAP = 5;
const TEXT = 3;

/** The fields of the map that starts at `at`; empty when there is no map. */
export function fieldsAt(bytes: Uint8Array, at: number): FieldSlice[] {
  const head = readHead(bytes, at);
  if (head.major !== MAP) return [];
  const fields: FieldSlice[] = [];
  let cursor = head.next;
  for (let i = 0; i < head.argument; i++) {
    const key = readHead(bytes, cursor);
    const start = key.next + key.argument;
    const end = skip(bytes, start);
    fields.push({ name: readName(bytes, key.next, start), start, end });
    cursor = end;
  }
  return fields;
}

interface ItemHead {
  readonly major: number;
  readonly argument: number;
  /** The first byte after the head. */
  readonly next: number;
}

function readHead(bytes: Uint8Array, at: number): ItemHead {
  const first = bytes[at] ?? 0;
  const info = first & 31;
  const width = info < 24 ? 0 : 1 << (info - 24);
  let argument = info < 24 ? info : 0;
  for (let i = 1; i <= width; i++) argument = argument * 256 + (bytes[at + i] ?? 0);
  return { major: first >> 5, argument, next: at + 1 + width };
}

/** The first byte after the item at `at`. Depth is bounded by the codec that wrote it. */
function skip(bytes: Uint8Array, at: number): number {
  const head = readHead(bytes, at);
  switch (head.major) {
    case 2:
    case TEXT:
      return head.next + head.argument;
    case 4:
      return skipMany(bytes, head.next, head.argument);
    case MAP:
      return skipMany(bytes, head.next, head.argument * 2);
    case 6:
      return skip(bytes, head.next);
    default:
      return head.next;
  }
}

function skipMany(bytes: Uint8Array, from: number, items: number): number {
  let at = from;
  for (let i = 0; i < items; i++) at = skip(bytes, at);
  return at;
}

function readName(bytes: Uint8Array, start: number, end: number): string {
  let name = '';
  let ascii = true;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte > 127) ascii = false;
    name += String.fromCharCode(byte);
  }
  return ascii ? name : decodeName(name);
}

/** Keys beyond ASCII are rare; they are shown by their bytes, escaped, which is unambiguous. */
function decodeName(latin1: string): string {
  return latin1.replace(/[\u0080-\u00ff]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16)}`);
}
