/** The texts of items: how they are stored, and how a model is shown them. */
import { type Ref, RepriseError } from '@reprise/contracts';
import { type ContentReader, type ContentStore, getErasable, putErasable } from '@reprise/kernel';
import { ITEM_SUMMARY_BYTES_MAX, SHOWN_BYTES_MAX } from './pure/index.js';

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

/** The text behind a link of an item; null when it was erased. */
export async function readItemText(content: ContentReader, ref: Ref): Promise<string | null> {
  try {
    return decoder.decode(await getErasable(content, ref));
  } catch (error) {
    if (error instanceof RepriseError && error.code === 'blob_erased') return null;
    throw error;
  }
}

/** The beginning of a text: to the first blank line, at most 600 bytes. */
export function summaryOf(text: string): string {
  const first = text.trim().split(/\n[^\S\n]*\n/, 1)[0] ?? '';
  return startOfBytes(first, ITEM_SUMMARY_BYTES_MAX);
}

/** An item as it is shown. */
interface ShownItem {
  readonly id: number;
  /** Its words; null when they were erased. */
  readonly text: string | null;
  /** Further facts about it, in one line. */
  readonly about: string;
}

/**
 * The text of items for a model. What stands in an item is data of others: it stands between marks that it cannot close.
 * Items that do not fit are named by their number.
 */
export function showItems(items: readonly ShownItem[], bytesMax: number = SHOWN_BYTES_MAX): string {
  const room = Math.floor(bytesMax / Math.max(1, items.length)) - MARK_BYTES;
  return items.map(({ id, text, about }) => `<memory id="${id}"${about}>\n${shown(text, room)}\n</memory>`).join('\n');
}

const MARK_BYTES = 160;

function shown(text: string | null, room: number): string {
  if (text === null) return '[This memory was erased.]';
  const whole = escaped(text);
  const cut = startOfBytes(whole, Math.max(0, room));
  return cut === whole ? whole : `${cut}\n[cut; read it by its number for more]`;
}

/** No data opens or closes a mark. */
function escaped(text: string): string {
  return text.replace(/<(?=\s*\/?\s*memory)/gi, '&lt;');
}

/** The beginning of a text in bytes of UTF-8, never half a character. */
function startOfBytes(text: string, bytesMax: number): string {
  const bytes = encoder.encode(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return decoder.decode(bytes.subarray(0, end));
}
