/**
 * Marks around the words of other parties in texts for models: `<said by="file: notes.md">` … `</said>`.
 *
 * A text for a model that has words of more than one party is made of {@link Marked} pieces, which only this module
 * makes. Pure, and without tables of the engine: every JavaScript engine gives the same bytes.
 *
 * Invariants
 * M1  Words of a party contain no mark: where one begins, `quoted-` stands before its name. The same is done to what
 *     looks like a mark, or becomes one when it is decoded, folded or rendered (`marks-symbols.ts`).
 * M2  Nothing else of the words changes, and each hand that a text passes through adds one level: marks that were true
 *     inside can still be told from those that were not.
 * M3  A name stands in one line and contains no angle bracket, no double quote, and nothing that becomes one of them.
 */
import { shortText, startOfText } from '../text/cut-text.js';
import { lineOf, markNames } from './marks-symbols.js';

declare const MARKED: unique symbol;
declare const PARTY: unique symbol;

/** A text for a model in which the words of each party can be told apart. */
export type Marked = string & { readonly [MARKED]: true };

/** The name of a party, made by {@link party}. */
export type PartyName = string & { readonly [PARTY]: true };

/** Facts about marked words, stated by the runtime. */
export interface SaidNote {
  /** How much of the words stands here, such as `8000 of 12000 bytes`. */
  readonly shown?: string;
}

/**
 * Words of another party, between marks.
 *
 * @example said(party`file: ${name}`, text)
 */
export function said(by: PartyName, words: string, { shown }: SaidNote = {}): Marked {
  const note = shown === undefined ? '' : ` shown="${nameText(shown)}"`;
  return `<said by="${by}"${note}>\n${quoted(words)}\n</said>` as Marked;
}

/**
 * The name of a party for {@link said}: the runtime's own words, a colon, and a name of others at the end, which reaches
 * to the end of the attribute. Names in braces are cleaned as M3 says.
 *
 * @example party`agent ${id}, completed: ${name}`
 */
export function party(texts: TemplateStringsArray, ...names: readonly (string | number)[]): PartyName {
  return filled(texts, names) as PartyName;
}

/** A notice of the runtime, between marks: words of others cannot pass for it. */
export function notice(words: Marked): Marked {
  return `<said by="runtime">\n${words}\n</said>` as Marked;
}

/** Words of the party whose message this is: no marks around them, and none in them (M1). */
export function bare(words: string): Marked {
  return quoted(words) as Marked;
}

/**
 * The runtime's own words. What stands in braces is a name of others, cleaned as M3 says; a name that may have several
 * words needs double quotes around it.
 *
 * @example own`The task "${title}" was done by ${agent}.`
 */
export function own(texts: TemplateStringsArray, ...names: readonly (string | number)[]): Marked {
  return filled(texts, names) as Marked;
}

/** Texts one after another. @param between stands between them; default: an empty line */
export function paragraphs(texts: readonly Marked[], between: '\n\n' | '\n' | '' = '\n\n'): Marked {
  return texts.join(between) as Marked;
}

/**
 * A text that its author has marked already, or in which nothing is to be marked: instructions, rules, what
 * `work.compose@1` has laid out. Never words that came from elsewhere; an architecture rule lists who may call it.
 */
export function authored(text: string): Marked {
  return text as Marked;
}

/** The characters of a name at most. */
const NAME_TEXT_MAX = 1_024;

/**
 * A name of others for one line of a text (M3): angle brackets become round, double quotes single, line breaks spaces;
 * what is encoded is decoded, and what is invisible is left out.
 */
export function nameText(name: string): string {
  const short = shortText(
    lineOf(startOfText(name, 4 * NAME_TEXT_MAX))
      .replace(/ {2,}/g, ' ')
      .trim(),
    NAME_TEXT_MAX,
  );
  return short === '' ? '(unnamed)' : short;
}

function filled(texts: TemplateStringsArray, names: readonly (string | number)[]): string {
  const value = (name: string | number | undefined) => (typeof name === 'string' ? nameText(name) : String(name));
  return texts.reduce((text, next, i) => `${text}${value(names[i - 1])}${next}`);
}

/** The words with one more level before the name of each mark (M1, M2). */
function quoted(words: string): string {
  let text = '';
  let from = 0;
  for (const at of markNames(words)) {
    text += `${words.slice(from, at)}quoted-`;
    from = at;
  }
  return text + words.slice(from);
}
