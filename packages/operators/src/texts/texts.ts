/** Texts behind links: of items, of places, and of what models gave out. */
import { isRepriseError, type Ref, shortText, type Value } from '@reprise/contracts';
import { type ContentReader, getErasable } from '@reprise/kernel';
import { getBytes, getValue } from '@reprise/kernel/store';
import { oneLine, WORDS_MAX } from '../names/effects.js';
import { fieldOf } from '../names/values.js';

/** A text, or why it cannot be read. */
interface FoundText {
  readonly text: string | null;
  readonly gone: 'erased' | 'missing' | null;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A text that is stored as it is. */
export async function plainText(content: ContentReader, ref: Ref): Promise<FoundText> {
  return unlessGone(getBytes(content, ref).then((bytes) => decoder.decode(bytes)));
}

/** A text that is salted so that it can be erased, as those of items are. */
export async function saltedText(content: ContentReader, ref: Ref): Promise<FoundText> {
  return unlessGone(getErasable(content, ref).then((bytes) => decoder.decode(bytes)));
}

/** The text of an output of a model; empty where it only calls tools. */
export async function outputText(content: ContentReader, ref: Ref): Promise<FoundText> {
  return unlessGone(getValue(content, ref).then((output: Value) => String(fieldOf(output, 'text') ?? '')));
}

/** The first words of a text. */
export function firstWords(text: string | null): string | null {
  return text === null ? null : shortText(oneLine(text), WORDS_MAX);
}

async function unlessGone(text: Promise<string>): Promise<FoundText> {
  try {
    return { text: await text, gone: null };
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return { text: null, gone: 'erased' };
    if (isRepriseError(error, 'blob_missing')) return { text: null, gone: 'missing' };
    throw error;
  }
}
