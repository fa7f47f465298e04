/**
 * `work.compose@1`: lays a text for a model out of the content of a world: a node's prompt, a question, news.
 *
 * A reducer makes and reads no content, so an owner that wants to tell a model more than its own words emits this
 * effect. It reads and writes content only, and the same sections over the same content give the same bytes.
 */
import { ref, startOfText } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineEffect } from '@reprise/kernel/define';

const count = z.int().min(0);

/** The bytes of a summary at most. */
export const SUMMARY_BYTES_MAX = 600;

/** The bytes of a composed text at most. */
export const COMPOSED_BYTES_MAX = 1_000_000;

/** How many items all sections of one text have at most. */
export const COMPOSED_ITEMS_MAX = 512;

/**
 * How much of a content is shown: `full`; `summary`, its beginning to the first blank line; its `head`; or a piece of
 * it. All in bytes of UTF-8, never in the middle of a character.
 */
export const composedView = z.union([
  z.enum(['full', 'summary']),
  z.strictObject({ head: count }),
  z.strictObject({ offset: count, bytes: count }),
]);

/** How much of a content is shown. */
export type ComposedView = z.infer<typeof composedView>;

/** What a link points to: plain text, a model's output, or a value, which is shown as JSON. */
export const COMPOSED_KINDS = ['text', 'llm_output', 'value'] as const;

/** The names that the label and the words of an item hold, and their characters. */
export const COMPOSED_NAMES_MAX = 512;
const NAME_MAX = 1_024;

/**
 * One item. `text` are words of the owner; what `ref` points to is data of others and stands between marks, unless `own`
 * says that the owner gives it as its own words: `true` for words of the author of the app, which stand as they are, and
 * `brief` for words of others that the owner passes on as a task, which stand between marks and are never shortened in
 * favor of data.
 *
 * Each `{}` in `label`, then in `text`, is one of `names`: names, titles and goals are words of others, and never part
 * of a text of the owner. {@link told} makes both.
 */
export const composedItem = z.strictObject({
  label: z.string().max(256),
  text: z.exactOptional(z.string().max(4_096)),
  ref: z.exactOptional(ref()),
  kind: z.enum(COMPOSED_KINDS),
  view: composedView,
  own: z.exactOptional(z.union([z.literal(true), z.literal('brief')])),
  names: z.exactOptional(z.array(z.string().max(NAME_MAX)).max(COMPOSED_NAMES_MAX)),
});

/** One item of a composed text. */
export type ComposedItem = z.infer<typeof composedItem>;

/** Words of the owner with names of others in them. */
export interface ToldText {
  readonly words: string;
  readonly names: string[];
}

/**
 * Words of an owner. Numbers stand as they are, texts in braces are names of others; a name that may have several words
 * needs double quotes around it, and in a label it stands last, behind a colon.
 *
 * @example told`Task ${n}, "${title}", has failed.`
 */
export function told(texts: TemplateStringsArray, ...values: readonly (string | number | ToldText)[]): ToldText {
  const names: string[] = [];
  const shown = (value: string | number | ToldText | undefined): string => {
    if (typeof value === 'string') return names.push(startOfText(value, NAME_MAX)) > 0 ? '{}' : '';
    if (typeof value === 'object') names.push(...value.names);
    return typeof value === 'object' ? value.words : String(value);
  };
  const words = texts.reduce((text, next, i) => `${text}${shown(values[i - 1])}${next}`);
  return { words, names };
}

/** Several words of an owner, each in a line of its own. */
export function toldLines(lines: readonly ToldText[]): ToldText {
  return { words: lines.map(({ words }) => words).join('\n'), names: lines.flatMap(({ names }) => names) };
}

/** Words of the owner as an item. */
export function toldItem({ words, names }: ToldText): ComposedItem {
  return { label: '', text: words, kind: 'text', view: 'full', ...(names.length === 0 ? {} : { names }) };
}

/** A section: a title, which may be empty, and its items. */
export const composedSection = z.strictObject({
  title: z.string().max(256),
  items: z.array(composedItem).max(COMPOSED_ITEMS_MAX),
});

/** A section of a composed text. */
export type ComposedSection = z.infer<typeof composedSection>;

/** `work.compose@1`: makes a text for a model, of at most `bytes_max` bytes, of sections over content. */
export const workCompose = defineEffect({
  kind: 'work.compose@1',
  params: z.strictObject({
    sections: z.array(composedSection).max(64),
    bytes_max: z.int().min(1).max(COMPOSED_BYTES_MAX),
  }),
  receipt: z.strictObject({ text_ref: ref(), bytes: count }),
  guarantee: 'idempotent',
});
