/** Reads what a person is asked: a text, a value with options, or a link to one of them. */
import { isRef, isRepriseError, type Ref, type Value } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import { readText } from '../../content/transcript.js';
import type { PendingQuestion } from './pending.js';

/**
 * The question of a pending item.
 *
 * @param asked the question, or its link
 */
export async function readQuestion(content: ContentReader, asked: Value): Promise<PendingQuestion> {
  const value = isRef(asked) ? await questionAt(content, asked) : asked;
  if (typeof value === 'string') return { question: value };
  const { question, options, ...rest } = value as { question?: Value; options?: readonly Value[] };
  const text = typeof question === 'string' ? question : JSON.stringify(value);
  const listed = Array.isArray(options) ? { options: options.map(optionOf) } : {};
  return { ...(rest as Partial<PendingQuestion>), question: text, ...listed };
}

/** The linked question. What is no value, or is gone, is shown as a text: one bad question never hides the others. */
async function questionAt(content: ContentReader, ref: Ref): Promise<Value> {
  try {
    return await getValue(content, ref);
  } catch (error) {
    if (isRepriseError(error, 'invalid_bytes')) return readText(content, ref);
    if (isRepriseError(error, 'blob_erased')) return 'The text of this question was erased.';
    throw error;
  }
}

function optionOf(option: Value): { readonly id: string; readonly label: string } {
  if (typeof option !== 'object' || option === null) return { id: String(option), label: String(option) };
  const { id, label = id } = option as { readonly id?: Value; readonly label?: Value };
  return { id: String(id), label: String(label) };
}
