/**
 * Texts of others for a terminal. People, models and tools wrote them: printed raw, one could move the cursor, hide a
 * line, reorder what is read or write to the clipboard. So what a terminal would execute or hide is shown as an escape.
 */
import { requireArgument } from '../errors/arguments.js';

/**
 * Controls, formats (bidirectional marks, invisible characters, tags), line separators and halves of surrogate pairs, but
 * not the joiners that scripts need. The ranges are written out: classes of Unicode follow the version of the engine.
 */
const ACTIVE = /* @__PURE__ */ anyOf(
  '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e]',
  '[\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb]',
  '\\ud804[\\udcbd\\udccd]|\\ud80d[\\udc30-\\udc3f]|\\ud82f[\\udca0-\\udca3]|\\ud834[\\udd73-\\udd7a]',
  '\\udb40[\\udc01\\udc20-\\udc7f]',
  '[\\ud800-\\udbff](?![\\udc00-\\udfff])|(?<![\\ud800-\\udbff])[\\udc00-\\udfff]',
);

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Escapes a text for one line of a terminal: what the terminal would execute, hide or reorder is shown as the escape of
 * JSON, and so are line feeds and tabs.
 *
 * @throws RepriseError `invalid_argument` for anything but a text
 */
export function escapeLine(text: string): string {
  requireArgument(typeof text === 'string', 'escapeLine(text)', 'a text', text);
  return text.replace(ACTIVE, (character) => NAMED[character] ?? escapeCharacter(character));
}

/**
 * Escapes a text of several lines for a terminal: what the terminal would execute, hide or reorder is shown as the
 * escape of JSON. Line feeds and tabs stay.
 *
 * @throws RepriseError `invalid_argument` for anything but a text
 */
export function escapeText(text: string): string {
  requireArgument(typeof text === 'string', 'escapeText(text)', 'a text', text);
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

function anyOf(...patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'g');
}
