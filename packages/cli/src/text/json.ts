/** Values of a world as JSON: sorted keys, links as `sha256:…`, bytes as `{"bytes":"hex"}`. The same bytes each time. */
import { isRef } from '@reprise/contracts';
import { escapeLine } from './escape.js';

/** The layout of the JSON text. */
interface JsonLayout {
  /** Spaces of indentation per level; everything on one line when absent. */
  readonly indent?: number;
  /** Write links by their first digits only, for people. */
  readonly shortLinks?: boolean;
}

/** Writes a value, or anything that an error carries, as JSON. Also escapes the characters that control a terminal. */
export function toJson(value: unknown, layout: JsonLayout = {}): string {
  return write(value, layout, 0);
}

function write(value: unknown, layout: JsonLayout, depth: number): string {
  if (isRef(value)) return `"${layout.shortLinks === true ? `sha256:${value.hex.slice(0, 12)}…` : value}"`;
  if (value instanceof Uint8Array) return `{"bytes":"${Buffer.from(value).toString('hex')}"}`;
  if (Array.isArray(value)) {
    return block(
      '[]',
      value.map((item) => write(item, layout, depth + 1)),
      layout,
      depth,
    );
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const space = layout.indent === undefined ? '' : ' ';
    const lines = entries.map(([key, item]) => `${scalar(key)}:${space}${write(item, layout, depth + 1)}`);
    return block('{}', lines, layout, depth);
  }
  return scalar(value);
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
  return escapeLine(JSON.stringify(known ? value : String(value)));
}
