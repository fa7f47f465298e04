/** The words of items, and of the places that they come from. */
import { isRepriseError, type Ref, shortText } from '@reprise/contracts';
import { type ContentReader, getErasable } from '@reprise/kernel';
import { getBytes } from '@reprise/kernel/store';
import { oneLine, WORDS_MAX } from '../names/effects.js';

/** A text, or why it cannot be read. */
export interface FoundText {
  readonly text: string | null;
  readonly gone: 'erased' | 'missing' | null;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of an item, which is salted so that it can be erased. */
export async function itemText(content: ContentReader, ref: Ref): Promise<FoundText> {
  return unlessGone(getErasable(content, ref));
}

/** The first words of a text. */
export function firstWords(text: string | null): string | null {
  return text === null ? null : shortText(oneLine(text), WORDS_MAX);
}

/** The first words of a place. @param isSalted whether its text is that of an item */
export async function placeWords(content: ContentReader, ref: Ref, isSalted: boolean): Promise<string | null> {
  const { text } = await unlessGone(isSalted ? getErasable(content, ref) : getBytes(content, ref));
  return firstWords(text);
}

async function unlessGone(bytes: Promise<Uint8Array>): Promise<FoundText> {
  try {
    return { text: decoder.decode(await bytes), gone: null };
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return { text: null, gone: 'erased' };
    if (isRepriseError(error, 'blob_missing')) return { text: null, gone: 'missing' };
    throw error;
  }
}
