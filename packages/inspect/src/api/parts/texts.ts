/** Texts behind links, for rows of charts. */
import { readLlmOutput, readText } from '@reprise/agent';
import { isRef, isRepriseError, type Ref, shortText } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';
import { toJson } from '@reprise/operators/text';
import type { Given } from '@reprise/tree';

/** The most characters of a row. */
const LINE_MAX = 240;

/** The first line of what a node gave or was asked. A link is read as text. */
export async function firstLine(content: ContentReader, of: Given | Ref): Promise<string> {
  return lineOf(unlessGone(read(content, of)));
}

/** The first line of a model's output. */
export async function outputLine(content: ContentReader, ref: Ref): Promise<string> {
  return lineOf(unlessGone(readLlmOutput(content, ref).then(({ text }) => text ?? '')));
}

async function lineOf(text: Promise<string>): Promise<string> {
  const line = (await text).split('\n').find((one) => one.trim() !== '') ?? '';
  return shortText(line.trim(), LINE_MAX);
}

async function read(content: ContentReader, of: Given | Ref): Promise<string> {
  if (isRef(of)) return readText(content, of);
  if (of.kind === 'text') return readText(content, of.ref);
  if (of.kind === 'llm_output') return (await readLlmOutput(content, of.ref)).text ?? '';
  const value = await getValue(content, of.ref);
  return typeof value === 'string' ? value : toJson(value);
}

async function unlessGone(text: Promise<string>): Promise<string> {
  try {
    return await text;
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return '(erased)';
    if (isRepriseError(error, 'blob_missing')) return '(missing)';
    throw error;
  }
}
