/**
 * Escapes text from a world for a terminal. People, models and tools wrote it: printed raw, it could move the cursor,
 * hide a line or write to the clipboard. So control characters are shown as escapes.
 */

/** Controls, formats (bidirectional marks, invisible characters), line separators; not the joiners that scripts need. */
const ACTIVE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Escapes one line of text, so that it cannot control a terminal. */
export function escapeLine(text: string): string {
  return text.replace(ACTIVE, (character) => NAMED[character] ?? escapeCharacter(character));
}

/** Escapes text of several lines: line feeds and tabs stay. */
export function escapeText(text: string): string {
  return text.replace(ACTIVE, (character) =>
    character === '\n' || character === '\t' ? character : (NAMED[character] ?? escapeCharacter(character)),
  );
}

/** The JSON escape of a character, so that an escaped JSON string still parses to the same string. */
function escapeCharacter(character: string): string {
  let out = '';
  for (let i = 0; i < character.length; i++) out += `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`;
  return out;
}
