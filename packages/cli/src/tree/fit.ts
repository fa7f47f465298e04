/** Fits the lines of a picture to a terminal: what stands at the right margin stays, what is too long is cut or wrapped. */
import type { PictureLine } from '@reprise/tree';
import { escapeLine } from '../text/escape.js';
import { cutToColumns, widthOfText, wrapToColumns } from '../text/layout.js';

/** The narrowest space that is left to the words of a line. */
const WORDS_MIN = 24;

/** A picture as text: for a terminal of so many columns, or uncut. */
export function pictureText(lines: readonly PictureLine[], columns: number | undefined): string {
  return lines.map((line) => `${columns === undefined ? uncut(line) : fitted(line, columns)}\n`).join('');
}

function uncut({ kind, text, right }: PictureLine): string {
  if (kind === 'rule') return '';
  return escapeLine(right === '' ? text : `${text}   ${right}`);
}

/** A line of the picture in at most so many columns; heads and questions may take several rows. */
export function fitted({ kind, text, right, indent }: PictureLine, columns: number): string {
  const words = escapeLine(text);
  if (kind === 'rule') return ` ${'─'.repeat(Math.max(1, columns - 2))}`;
  if (kind === 'head' || kind === 'ask') return wrapToColumns(words, columns, indent);
  if (right === '' || columns - right.length < WORDS_MIN) return cutBeforeNotes(words, columns);
  const left = cutBeforeNotes(words, columns - right.length - 2);
  return `${left}${' '.repeat(columns - widthOfText(left) - right.length)}${right}`;
}

/** The notes behind the words of a node: why it waits or ended. No goal has so many blanks in a row. */
const NOTES = /\S( {3}\S.*)$/;

/** Cuts the words of a line before its notes, which say what to do. */
function cutBeforeNotes(words: string, columns: number): string {
  const notes = NOTES.exec(words)?.[1] ?? '';
  const room = columns - widthOfText(notes);
  if (widthOfText(words) <= columns || notes === '' || room < WORDS_MIN) return cutToColumns(words, columns);
  return `${cutToColumns(words.slice(0, words.length - notes.length), room)}${notes}`;
}
