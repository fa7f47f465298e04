/** Reads linked content of a transcript. Missing or damaged content never throws; a marker text replaces it. */

import type { LlmOutput } from '@reprise/agent';
import { readLlmOutput } from '@reprise/agent/model';
import { isRepriseError, type Ref, type Value } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { getBytes, getErasable, getValue } from '@reprise/kernel/store';
import { jsonText } from '../model/json.js';
import type { PromptMemory } from './memory.js';

/** The text in place of content that was erased. */
export const ERASED_TEXT = '[erased]';

/** The text in place of content that is missing, damaged, or of another type than its link states. */
export const UNREADABLE_TEXT = '[this content cannot be read]';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

const BROKEN = ['blob_missing', 'blob_damaged', 'invalid_bytes', 'invalid_value'] as const;

/** Content, or the reason why it is missing. A store that fails throws instead. */
type Read<T> = { readonly found: T } | { readonly gone: 'erased' | 'unreadable' };

/** Reads a transcript's content and records what could not be read. */
export class TranscriptReader {
  /** Classes of content that the request lacks, without duplicates. */
  readonly losses = new Set<string>();
  /** Whether some requested content was erased. */
  erased = false;
  /** Whether some requested content was not found or not readable: it may be at the next call. */
  isPartial = false;

  constructor(private readonly content: ContentReader) {}

  /** Reads a text, or a marker when it is gone. */
  async text(link: Ref): Promise<string> {
    const read = await this.bytes(link);
    return 'found' in read ? decoder.decode(read.found) : wordsFor(read.gone);
  }

  /** Reads a text that stands in one request after the other, and keeps it for the next ones. */
  async lastingText(link: Ref, memory: PromptMemory | undefined): Promise<string> {
    const read = await this.bytes(link);
    if ('gone' in read) return wordsFor(read.gone);
    const text = decoder.decode(read.found);
    memory?.keepText(link, text);
    return text;
  }

  /** Reads a text that stands behind a salt, or a marker when it is gone. */
  async saltedText(link: Ref): Promise<string> {
    const read = await this.saltedBytes(link);
    return 'found' in read ? decoder.decode(read.found) : wordsFor(read.gone);
  }

  /** Reads bytes, or the reason why they are gone. */
  bytes(link: Ref): Promise<Read<Uint8Array>> {
    return this.attempt(getBytes(this.content, link));
  }

  /** Reads bytes that stand behind a salt, or the reason why they are gone. */
  saltedBytes(link: Ref): Promise<Read<Uint8Array>> {
    return this.attempt(getErasable(this.content, link));
  }

  /** Reads a value, or the reason why it is gone. */
  value(link: Ref): Promise<Read<Value>> {
    return this.attempt(getValue(this.content, link));
  }

  /** Reads a model's output, or the reason why it is gone. */
  output(link: Ref): Promise<Read<LlmOutput>> {
    return this.attempt(readLlmOutput(this.content, link));
  }

  /** Reads an output as text: a model's text, a value as JSON, or plain text unchanged. */
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
      this.isPartial = true;
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

/** The marker text for content that is gone. */
export function wordsFor(gone: 'erased' | 'unreadable'): string {
  return gone === 'erased' ? ERASED_TEXT : UNREADABLE_TEXT;
}

/** A value as a model reads it: text unchanged, anything else as JSON. */
export function textOfValue(data: Value): string {
  return typeof data === 'string' ? data : jsonText(data);
}

function unlessShapeless(error: unknown): undefined {
  if (isRepriseError(error, 'invalid_value')) return undefined;
  throw error;
}
