/** Executes `work.compose@1`: reads the content of its items, and stores the text that they make. */

import { putText, readLlmOutput, readText } from '@reprise/agent';
import { isRef, type Marked, nameText, type Ref, RepriseError, type Value } from '@reprise/contracts';
import { type AnyAdapter, adapterOf, type ContentReader, getValue } from '@reprise/kernel';
import { unlessErased } from '../handle/texts.js';
import { COMPOSED_ITEMS_MAX, type ComposedItem, type ComposedSection, workCompose } from '../pure/job/compose.js';
import { layOut, type ReadItem } from './lay-out.js';

/**
 * Makes a text out of sections over the content of a world.
 *
 * Content that was erased is named as such. Equal sections over equal content give equal texts.
 *
 * @param sections the sections; those without items are left out
 * @param bytesMax the bytes of the text at most
 * @throws RepriseError `blob_missing` for content that the world never had or has lost, `invalid_value` for a link of
 *   another kind than stated
 */
export async function composeText(
  content: ContentReader,
  sections: readonly ComposedSection[],
  bytesMax: number,
): Promise<Marked> {
  const read = await Promise.all(
    sections.map(async ({ title, items }) => ({
      title,
      items: await Promise.all(items.map((item) => readItem(content, item))),
    })),
  );
  return layOut(read, bytesMax);
}

/** The adapter of `work.compose@1`. A part of a world that emits it brings it. */
export function composeAdapter(): AnyAdapter {
  return adapterOf(workCompose, {
    name: 'work.compose',
    async doExecute({ sections, bytes_max }, { content }) {
      const items = sections.reduce((sum, section) => sum + section.items.length, 0);
      if (items > COMPOSED_ITEMS_MAX)
        return { status: 'error', code: 'validation_error/too_many_items', retryable: false };
      try {
        const text = await composeText(content, sections, bytes_max);
        const text_ref = await putText(content, text);
        return { status: 'ok', payload: { text_ref, bytes: new TextEncoder().encode(text).length } };
      } catch (error) {
        if (!(error instanceof RepriseError)) throw error;
        const code = error.code === 'blob_missing' ? 'validation_error/blob_missing' : 'validation_error/not_a_value';
        return { status: 'error', code, retryable: false };
      }
    },
  });
}

async function readItem(content: ContentReader, item: ComposedItem): Promise<ReadItem> {
  const { ref, view } = item;
  const [label, text] = named(item);
  const own = item.own ?? ref === undefined;
  if (ref === undefined) return { label, own, text, view };
  return { label, own, text: await unlessErased(wordsOf(content, ref, item.kind), '[This content was erased.]'), view };
}

/** The label and the words of an item, with the names in their places. Those that are missing are called unnamed. */
function named({ label, text = '', names = [] }: ComposedItem): readonly [label: string, text: string] {
  const left = [...names];
  const filled = (words: string) => words.replaceAll('{}', () => nameText(left.shift() ?? ''));
  return [filled(label), names.length === 0 ? text : filled(text)];
}

async function wordsOf(content: ContentReader, ref: Ref, kind: ComposedItem['kind']): Promise<string> {
  if (kind === 'text') return readText(content, ref);
  if (kind === 'llm_output') return (await readLlmOutput(content, ref)).text ?? '';
  return jsonOf(await getValue(content, ref));
}

/** A value as JSON, its keys in the order of the journal; links by their address, bytes by their number. */
function jsonOf(value: Value): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (isRef(part)) return part.toString();
    return part instanceof Uint8Array ? `${part.length} bytes` : part;
  });
}
