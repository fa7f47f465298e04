/** The texts of items: how they are stored, also erased, and how a model is shown them. */
import { isRepriseError, type Marked, paragraphs, party, type Ref, said, startOfUtf8 } from '@reprise/contracts';
import { type ContentReader, type ContentStore, getErasable, putErasable } from '@reprise/kernel';
import { ITEM_SUMMARY_BYTES_MAX, SHOWN_BYTES_MAX } from '../pure/store/index.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The links of a text: both can be erased, and neither tells its text to those who guess. */
interface KeptText {
  readonly content_ref: Ref;
  readonly summary_ref: Ref;
}

/** Stores a text and its summary as content that can be erased. */
export async function keepText(content: ContentStore, text: string): Promise<KeptText> {
  const content_ref = await putErasable(content, encoder.encode(text));
  return { content_ref, summary_ref: await putErasable(content, encoder.encode(summaryOf(text))) };
}

/** What is read; what stands in its place when its content was erased. Any other error is thrown. */
export async function unlessErased<T, I>(read: Promise<T>, instead: I): Promise<T | I> {
  try {
    return await read;
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return instead;
    throw error;
  }
}

/** The text behind a link of an item; null when it was erased. */
export async function readItemText(content: ContentReader, ref: Ref): Promise<string | null> {
  const bytes = await unlessErased(getErasable(content, ref), null);
  return bytes === null ? null : decoder.decode(bytes);
}

/** The beginning of a text: to the first blank line, at most 600 bytes. */
function summaryOf(text: string): string {
  const first = text.trim().split(/\n[^\S\n]*\n/, 1)[0] ?? '';
  return startOfBytes(first, ITEM_SUMMARY_BYTES_MAX);
}

interface ShownItem {
  readonly id: number;
  /** Its words; null when they were erased. */
  readonly text: string | null;
  /** Further facts about it, in one line. */
  readonly about: string;
}

/**
 * The text of items for a model. What stands in an item is words of others, between marks. Items that do not fit are
 * named by their number.
 */
export function showItems(items: readonly ShownItem[], bytesMax: number = SHOWN_BYTES_MAX): Marked {
  const room = Math.floor(bytesMax / Math.max(1, items.length)) - MARK_BYTES;
  return paragraphs(
    items.map((item) => shown(item, room)),
    '\n',
  );
}

const MARK_BYTES = 160;

function shown({ id, text, about }: ShownItem, room: number): Marked {
  const by = party`memory ${id}${about}`;
  if (text === null) return said(by, '', { shown: 'erased' });
  for (let most = Math.max(0, room); ; most = Math.floor(most / 2)) {
    const start = startOfBytes(text, most);
    const made = said(by, start, start === text ? {} : { shown: 'its beginning; read it by its number for more' });
    if (most === 0 || encoder.encode(made).length <= room + MARK_BYTES) return made;
  }
}

/** The beginning of a text in bytes of UTF-8, never half a character. */
function startOfBytes(text: string, bytesMax: number): string {
  const bytes = encoder.encode(text);
  return bytes.length <= bytesMax ? text : decoder.decode(startOfUtf8(bytes, bytesMax));
}
