/**
 * Lays texts out for a model: sections of items, data of others between marks, all within a bound.
 *
 * Invariants
 * L1  No data closes or opens a mark, whatever it contains: `<` before the name of the mark is written `&lt;`.
 * L2  Words of the owner are never shortened in favor of data.
 * L3  Equal items give equal texts: nothing depends on time, locale or the order in which content was read.
 */
import { type ComposedView, SUMMARY_BYTES_MAX } from '../pure/compose.js';

/** An item whose content was read. */
export interface ReadItem {
  readonly label: string;
  /** Whether these are words of the owner; other content is data. */
  readonly own: boolean;
  readonly text: string;
  readonly view: ComposedView;
}

/** A section whose items were read. */
interface ReadSection {
  readonly title: string;
  readonly items: readonly ReadItem[];
}

interface Shown {
  readonly item: ReadItem;
  /** The bytes that the view shows. */
  readonly bytes: Uint8Array;
  /** The bytes of the whole content. */
  readonly of: number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * The text of sections.
 *
 * @param bytesMax the bytes of the text at most; beyond them the largest data are shortened first, and the words of the
 *   owner only when they alone take more
 */
export function layOut(sections: readonly ReadSection[], bytesMax: number): string {
  const shown = sections.map(({ title, items }) => ({ title, items: items.map(viewed) }));
  const fixed = encoder.encode(
    written(
      shown.map(({ title, items }) => ({ title, items: items.map(emptied) })),
      0,
    ),
  ).length;
  const data = shown.flatMap(({ items }) => items.filter(({ item }) => !item.own));
  const cap = shareOf(
    data.map(({ bytes }) => bytes.length + NOTE_BYTES),
    bytesMax - fixed,
  );
  const text = written(shown, Math.max(0, cap - NOTE_BYTES));
  return decoder.decode(cut(encoder.encode(text), 0, bytesMax));
}

/** The bytes that a note about a shortened content takes at most. */
const NOTE_BYTES = 64;

/** Of an item of the owner everything, of another nothing: what its marks take. */
function emptied(shown: Shown): Shown {
  return shown.item.own ? shown : { ...shown, bytes: new Uint8Array(0) };
}

function written(
  sections: readonly { readonly title: string; readonly items: readonly Shown[] }[],
  cap: number,
): string {
  const texts = sections
    .filter(({ items }) => items.length > 0)
    .map(({ title, items }) => [...(title === '' ? [] : [`## ${title}`]), ...items.map((shown) => block(shown, cap))]);
  return texts.map((lines) => lines.join('\n\n')).join('\n\n');
}

function block({ item, bytes, of }: Shown, cap: number): string {
  if (item.own) return item.label === '' ? text(bytes) : `${item.label}: ${text(bytes)}`;
  const kept = cut(bytes, 0, cap);
  const note = kept.length < of ? `\n[${kept.length} of ${of} bytes]` : '';
  return `<data from="${attribute(item.label)}">\n${escaped(text(kept))}${note}\n</data>`;
}

function viewed(item: ReadItem): Shown {
  const bytes = encoder.encode(item.text);
  return { item, bytes: view(bytes, item), of: bytes.length };
}

function view(bytes: Uint8Array, { view: what, text: whole }: ReadItem): Uint8Array {
  if (what === 'full') return bytes;
  if (what === 'summary') return cut(encoder.encode(firstParagraph(whole)), 0, SUMMARY_BYTES_MAX);
  return 'head' in what ? cut(bytes, 0, what.head) : cut(bytes, what.offset, what.offset + what.bytes);
}

/** The text up to its first blank line; leading blank lines do not count. */
function firstParagraph(whole: string): string {
  const begun = whole.replace(/^(?:[ \t]*\r?\n)+/, '');
  const end = /\r?\n[ \t]*\r?\n/.exec(begun);
  return end === null ? begun : begun.slice(0, end.index);
}

/** The bytes between two places, each moved back to the border of a character. */
function cut(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return bytes.subarray(border(bytes, from), border(bytes, to));
}

function border(bytes: Uint8Array, at: number): number {
  let place = Math.min(Math.max(at, 0), bytes.length);
  while (place > 0 && place < bytes.length && ((bytes[place] ?? 0) & 0xc0) === 0x80) place--;
  return place;
}

/** The bytes that each may take, so that all together stay within a bound: the largest give way first. */
function shareOf(sizes: readonly number[], bound: number): number {
  let left = bound;
  const rising = [...sizes].sort((a, b) => a - b);
  for (const [i, size] of rising.entries()) {
    const share = Math.floor(left / (rising.length - i));
    if (size > share) return Math.max(0, share);
    left -= size;
  }
  return Number.MAX_SAFE_INTEGER;
}

/** Data in which no mark begins or ends (L1). */
function escaped(data: string): string {
  return data.replace(/<(?=\s*\/?\s*data)/gi, '&lt;');
}

function attribute(label: string): string {
  return label.replace(/[&"<>\r\n]/g, (char) => ATTRIBUTE[char] ?? ' ');
}

const ATTRIBUTE: Readonly<Record<string, string>> = { '&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;' };

function text(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
