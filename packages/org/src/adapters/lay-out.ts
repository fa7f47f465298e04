/**
 * Lays texts out for a model: sections of items, data of others between marks, all within a bound.
 *
 * Invariants
 * L1  Words of others stand between marks, and names of others are cleaned (contracts/marks.ts), whatever they contain.
 * L2  Words of the owner are never shortened in favor of data; marks are never cut.
 * L3  Equal items give equal texts: nothing depends on time, locale or the order in which content was read.
 */
import { authored, type Marked, paragraphs, party, said, startOfUtf8 } from '@reprise/contracts';
import { type ComposedView, SUMMARY_BYTES_MAX } from '../pure/job/compose.js';
import { bytesOf } from '../pure/kit/index.js';

export interface ReadItem {
  readonly label: string;
  /** Whether these are words of the owner, or a brief of others that it passes on; other content is data. */
  readonly own: boolean | 'brief';
  readonly text: string;
  readonly view: ComposedView;
}

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
export function layOut(sections: readonly ReadSection[], bytesMax: number): Marked {
  const shown = sections.map(({ title, items }) => ({ title, items: items.map(viewed) }));
  const fixed = bytesOf(
    textOf(
      shown.map(({ title, items }) => ({ title, items: items.map(emptied) })),
      0,
    ),
  );
  const data = shown.flatMap(({ items }) => items.filter(({ item }) => item.own === false));
  let cap = shareOf(
    data.map(({ bytes }) => bytes.length + NOTE_BYTES),
    bytesMax - fixed,
  );
  // Words with many marks in them are longer when they are marked themselves.
  for (; cap > 0; cap = Math.floor(cap / 2)) {
    const text = textOf(shown, Math.max(0, cap - NOTE_BYTES));
    if (bytesOf(text) <= bytesMax) return text;
  }
  return fitted(blocksOf(shown, 0), bytesMax);
}

/** The bytes that a note about a shortened content takes at most. */
const NOTE_BYTES = 64;

/** Of an item of the owner everything, of another nothing: what its marks take. */
function emptied(shown: Shown): Shown {
  return shown.item.own !== false ? shown : { ...shown, bytes: new Uint8Array(0) };
}

interface ShownSection {
  readonly title: string;
  readonly items: readonly Shown[];
}

function textOf(sections: readonly ShownSection[], cap: number): Marked {
  return paragraphs(blocksOf(sections, cap).map(({ text }) => text));
}

/** A block of a text, and its beginning where less room is left; undefined for data, which then is left out. */
interface Block {
  readonly text: Marked;
  readonly within?: (room: number) => Marked | undefined;
}

function blocksOf(sections: readonly ShownSection[], cap: number): readonly Block[] {
  return sections
    .filter(({ items }) => items.length > 0)
    .flatMap(({ title, items }) => [
      ...(title === '' ? [] : [ownBlock(authored(`## ${title}`))]),
      ...items.map((shown) => blockOf(shown, cap)),
    ]);
}

function blockOf({ item: { label, own }, bytes, of }: Shown, cap: number): Block {
  if (own === true) return ownBlock(authored(label === '' ? text(bytes) : `${label}: ${text(bytes)}`));
  const shown = (kept: Uint8Array) =>
    said(party`${label}`, text(kept), kept.length < of ? { shown: `${kept.length} of ${of} bytes` } : {});
  if (own === false) return { text: shown(cut(bytes, 0, cap)) };
  return { text: shown(bytes), within: (room) => shortened(bytes, room, shown) };
}

/** Words of the owner may be cut anywhere. */
function ownBlock(words: Marked): Block {
  return { text: words, within: (room) => authored(text(cut(encoder.encode(words), 0, room))) };
}

/** As much of marked words as fits, with whole marks. */
function shortened(bytes: Uint8Array, room: number, shown: (kept: Uint8Array) => Marked): Marked | undefined {
  for (let most = room; ; most = Math.floor(most / 2)) {
    const made = shown(cut(bytes, 0, most));
    if (bytesOf(made) <= room) return made;
    if (most === 0) return undefined;
  }
}

/** The blocks that fit, from the first one on. */
function fitted(blocks: readonly Block[], bytesMax: number): Marked {
  const kept: Marked[] = [];
  let left = bytesMax;
  for (const block of blocks) {
    const room = left - (kept.length === 0 ? 0 : GAP_BYTES);
    const made = bytesOf(block.text) <= room ? block.text : room > 0 ? block.within?.(room) : undefined;
    if (made === undefined) continue;
    kept.push(made);
    left = room - bytesOf(made);
  }
  return paragraphs(kept);
}

/** The empty line between two blocks. */
const GAP_BYTES = 2;

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
  return startOfUtf8(bytes, to).subarray(startOfUtf8(bytes, from).length);
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

function text(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
