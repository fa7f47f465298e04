/**
 * Reads a command line as the words of one simple command.
 *
 * This is no shell parser: it knows the few characters that mean themselves in every shell, and gives up at any other.
 *
 * Invariants
 * S1  Text that is read runs as exactly one command with exactly these words, under `sh` and `bash` alike.
 * S2  Whatever could expand, redirect, assign, comment, start a second command or hide from a reader is refused: the
 *     characters that are accepted are listed, not those that are refused.
 */

/** Characters that mean themselves without quotes. `~` does so after a letter or a digit, as in `HEAD~1`. */
const PLAIN = /^[A-Za-z0-9_./:@%+,=-]$/;

/** A word may not start like this: `=` looks up a program in some shells, and `%` names a job. */
const UNUSUAL_START = /^[=%]/;

/** What double quotes do not switch off. */
const ALIVE_IN_DOUBLE_QUOTES = /["$`\\!]/;

/** Control characters, line breaks, and what is invisible or turns the direction of a line; two are blank symbols. */
const UNREADABLE = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/u;

/** No longer text is read, in characters: a person approves it, and reads it. */
const LINE_UNITS_MAX = 2_000;

/** Whether a person can read a text as it is: of all white space it has only plain spaces. */
export function isReadable(text: string): boolean {
  return !UNREADABLE.test(text.replaceAll(' ', ''));
}

/**
 * The words of a simple command, without their quotes; undefined for anything else.
 *
 * @example simpleCommand(`git show 'a b'`) // ['git', 'show', 'a b']
 * @example simpleCommand('git status && rm -r src') // undefined
 */
export function simpleCommand(line: string): string[] | undefined {
  if (line.length > LINE_UNITS_MAX || !isReadable(line)) return undefined;
  const words: string[] = [];
  for (let at = 0; at < line.length; ) {
    if (line[at] === ' ') {
      at += 1;
      continue;
    }
    const word = wordAt(line, at);
    if (word === undefined) return undefined;
    words.push(word.text);
    at = word.end;
  }
  // A program in quotes is a program too, but nobody writes it so.
  return words.length === 0 || /^["']/.test(line.trimStart()) ? undefined : words;
}

interface Word {
  readonly text: string;
  readonly end: number;
}

function wordAt(line: string, start: number): Word | undefined {
  let text = '';
  let at = start;
  while (at < line.length && line[at] !== ' ') {
    const unit = line[at] as string;
    if (unit === '"' || unit === "'") {
      const close = line.indexOf(unit, at + 1);
      if (close < 0) return undefined;
      const inside = line.slice(at + 1, close);
      if (unit === '"' && ALIVE_IN_DOUBLE_QUOTES.test(inside)) return undefined;
      text += inside;
      at = close + 1;
    } else if (PLAIN.test(unit) || (unit === '~' && isInsideName(line, start, at))) {
      text += unit;
      at += 1;
    } else {
      return undefined; // S2
    }
  }
  return UNUSUAL_START.test(line[start] as string) ? undefined : { text, end: at };
}

/** Whether a tilde is part of a name. After `:` or in an assignment, a shell may expand it to a home folder. */
function isInsideName(line: string, start: number, at: number): boolean {
  return at > start && /[A-Za-z0-9@]/.test(line[at - 1] as string) && !line.slice(start, at).includes('=');
}
