/** Reads what a transcript links, whatever has become of it: what cannot be read is told as such, never thrown. */
import { type LlmOutput, readLlmOutput, readText, readValue } from '@reprise/agent';
import { isRepriseError, type Ref, type Value } from '@reprise/contracts';
import { type ContentReader, getBytes } from '@reprise/kernel';
import { jsonText } from '../model/json.js';

/** What a model reads in place of content that was erased. */
export const ERASED_TEXT = '[erased]';

/** What a model reads in place of content that is gone, damaged, or not what its link says. */
export const UNREADABLE_TEXT = '[this content cannot be read]';

const BROKEN = ['blob_missing', 'blob_damaged', 'invalid_bytes', 'invalid_value'] as const;

/** Content, or why there is none. A store that fails is no content: that is thrown. */
export type Read<T> = { readonly found: T } | { readonly gone: 'erased' | 'unreadable' };

/** Reads a transcript's content and notes what could not be told. */
export class TranscriptReader {
  /** Classes of what the request does not hold, each once. */
  readonly losses = new Set<string>();
  /** Whether content that was asked for has been erased. */
  erased = false;

  constructor(private readonly content: ContentReader) {}

  /** A text, or words in its place. */
  async text(link: Ref): Promise<string> {
    const read = await this.attempt(readText(this.content, link));
    return 'found' in read ? read.found : wordsFor(read.gone);
  }

  /** Bytes, or why there are none. */
  bytes(link: Ref): Promise<Read<Uint8Array>> {
    return this.attempt(getBytes(this.content, link));
  }

  /** A value, or why there is none. */
  value(link: Ref): Promise<Read<Value>> {
    return this.attempt(readValue(this.content, link));
  }

  /** A model's output, or why there is none. */
  output(link: Ref): Promise<Read<LlmOutput>> {
    return this.attempt(readLlmOutput(this.content, link));
  }

  /** What somebody came to as a text: what a model said, a value as JSON, or text as it stands. */
  async words(link: Ref): Promise<string> {
    if (link.kind === 'raw') return this.text(link);
    const read = await this.attempt(readLlmOutput(this.content, link).catch((error) => unlessShapeless(error)));
    if ('gone' in read) return wordsFor(read.gone);
    if (read.found !== undefined) return read.found.text ?? '';
    const data = await this.value(link);
    return 'gone' in data ? wordsFor(data.gone) : textOfValue(data.found);
  }

  private async attempt<T>(reading: Promise<T>): Promise<Read<T>> {
    try {
      return { found: await reading };
    } catch (error) {
      if (isRepriseError(error, 'blob_erased')) {
        this.erased = true;
        return { gone: 'erased' };
      }
      if (!BROKEN.some((code) => isRepriseError(error, code))) throw error;
      this.losses.add('unreadable_content');
      return { gone: 'unreadable' };
    }
  }
}

/** What stands in place of content. */
export function wordsFor(gone: 'erased' | 'unreadable'): string {
  return gone === 'erased' ? ERASED_TEXT : UNREADABLE_TEXT;
}

/** A value as a model reads it: text as it is, anything else as JSON. */
export function textOfValue(data: Value): string {
  return typeof data === 'string' ? data : jsonText(data);
}

function unlessShapeless(error: unknown): undefined {
  if (isRepriseError(error, 'invalid_value')) return undefined;
  throw error;
}
