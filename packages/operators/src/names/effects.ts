/** Effects in words that a person knows. */
import { shortText } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import type { OpenEffect } from '@reprise/kernel/inspect';
import { EFFECTS } from './reducers.js';
import { fieldOf, textOfValue } from './values.js';

/** How long the words of an item are. */
export const WORDS_MAX = 240;

/** A model call in words. */
export const MODEL_CALL = 'a model call';

/** An effect in words and in one line: a call by its tool and arguments, any other by its kind and parameters. */
export async function wordsOfEffect(
  { content }: Pick<ReadonlyStore, 'content'>,
  { name, params }: Pick<OpenEffect, 'name' | 'params'>,
): Promise<string> {
  if (name === EFFECTS.adopt) return `tools of ${String(fieldOf(params, 'toolset'))} that have changed`;
  if (name === EFFECTS.model) return MODEL_CALL;
  if (name !== EFFECTS.tool) return shortText(`${name} ${await textOfValue(content, params)}`, WORDS_MAX);
  const args = await textOfValue(content, fieldOf(params, 'args_ref') ?? null);
  return shortText(`${String(fieldOf(params, 'tool'))} ${args}`, WORDS_MAX);
}

/** A text of others in one line. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
