/**
 * Text from a world was written by people, models and tools. Printed as it is, it could move the cursor, hide a
 * line or write to the clipboard, so what a terminal would act on is shown as an escape.
 */

/** Controls, formats (bidirectional marks and the invisible), line separators; not the joiners that scripts need. */
const ACTIVE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** One line of text in which nothing acts on a terminal. */
export function escapeLine(text: string): string {
  return text.replace(ACTIVE, (character) => NAMED[character] ?? escapeCharacter(character));
}

/** The same for text of several lines: line feeds and tabs stay. */
export function escapeText(text: string): string {
  return text.replace(ACTIVE, (character) =>
    character === '\n' || character === '\t' ? character : (NAMED[character] ?? escapeCharacter(character)),
  );
}

/** As JSON writes it, so that the escaped text of a JSON string is still the same string. */
export function escapeCharacter(character: string): string {
  let out = '';
  for (let i = 0; i < character.length; i++) out += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return out;
}
