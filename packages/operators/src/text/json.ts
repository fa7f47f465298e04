/** Values of a world as JSON: sorted keys, links as `sha256:…`, bytes as `{"bytes":"hex"}`. The same bytes each time. */
import { escapeLine, isRef, lineOfError } from '@reprise/contracts';

/** The layout of the JSON text. */
interface JsonLayout {
  /** Spaces of indentation per level; everything on one line when absent. */
  readonly indent?: number;
  /** Write links by their first digits only, for people. */
  readonly shortLinks?: boolean;
}

/** How deep a value is written: the values of a world are not as deep, but what an error carries may be endless. */
const DEPTH_MAX = 256;

/** Writes a value, or anything that an error carries, as JSON. Also escapes the characters that control a terminal. */
export function toJson(value: unknown, layout: JsonLayout = {}): string {
  return write(value, layout, []);
}

/** @param above the objects that contain the value */
function write(value: unknown, layout: JsonLayout, above: readonly object[]): string {
  if (typeof value !== 'object' || value === null) return scalar(value);
  if (above.length === DEPTH_MAX || above.includes(value)) return scalar('…');
  try {
    return writeObject(value, layout, [...above, value]);
  } catch {
    return scalar('something that cannot be shown'); // reading it throws
  }
}

function writeObject(value: object, layout: JsonLayout, above: readonly object[]): string {
  if (isRef(value)) return `"${layout.shortLinks === true ? `sha256:${value.hex.slice(0, 12)}…` : value}"`;
  if (value instanceof Uint8Array) return `{"bytes":"${Buffer.from(value).toString('hex')}"}`;
  if (value instanceof Error) return scalar(lineOfError(value));
  if (value instanceof Date) return scalar(Number.isNaN(value.getTime()) ? 'an invalid date' : value.toISOString());
  const depth = above.length - 1;
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
    const items = Array.from(value as Iterable<unknown>, (item) => write(item, layout, above));
    return block('[]', items, layout, depth);
  }
  const entries = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const space = layout.indent === undefined ? '' : ' ';
  const lines = entries.map(([key, item]) => `${scalar(key)}:${space}${write(item, layout, above)}`);
  return block('{}', lines, layout, depth);
}

function block(brackets: '[]' | '{}', items: readonly string[], { indent }: JsonLayout, depth: number): string {
  const [open, close] = [brackets.charAt(0), brackets.charAt(1)];
  if (indent === undefined || items.length === 0) return `${open}${items.join(',')}${close}`;
  const margin = ' '.repeat(indent * (depth + 1));
  return `${open}\n${margin}${items.join(`,\n${margin}`)}\n${' '.repeat(indent * depth)}${close}`;
}

/** Writes values that JSON cannot express (an error's details may hold anything) as text. */
function scalar(value: unknown): string {
  const known = value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
  const text = typeof value === 'function' ? 'a function' : String(value);
  return escapeLine(JSON.stringify(known ? value : text));
}
