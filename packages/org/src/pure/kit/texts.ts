/** Texts as organizations measure and shorten them. */
import { utf8Length, wellFormed } from '@reprise/contracts';

/** The bytes of a text in UTF-8; half a character counts as the sign that replaces it where the text is stored. */
export function bytesOf(text: string): number {
  return utf8Length(wellFormed(text));
}

/** A text in one line: white space and control characters between its words become one space. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}
