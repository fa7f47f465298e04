/** The goal of a tree: words on the command line, or a file. */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { RepriseError } from '@reprise/contracts';
import { GOAL_BYTES_MAX } from '@reprise/tree';

/** The bytes of a file with a goal. */
const FILE_BYTES_MAX = 1_000_000;

/** A goal in one line, and the whole task when a file holds more. */
export interface Goal {
  readonly goal: string;
  readonly prompt?: string;
}

/**
 * Reads a goal. A word without spaces that is a path, or has the ending of a text file, is a file.
 *
 * @throws RepriseError `invalid_argument` for an empty or long goal, a file that is absent, a folder, too large, or not
 *   UTF-8
 */
export function readGoal(argument: string): Goal {
  const text = textOfFile(argument, 'goal');
  if (text !== undefined) return fileGoal(argument, text);
  const goal = argument.replace(/\s+/g, ' ').trim();
  if (goal === '') throw refused('the goal is empty', 'GOAL', 'what the tree is to do, in a sentence');
  requireShort(goal, 'GOAL', 'Write it into a file: its first line is the goal, all of it the task.');
  return { goal };
}

/**
 * The text of the file that an argument names; undefined when it is words of its own.
 *
 * @param what what the file holds, in a word
 * @throws RepriseError `invalid_argument` for a file that is absent, a folder, too large, or not UTF-8
 */
export function textOfFile(argument: string, what: string): string | undefined {
  const found = /\n/.test(argument) || argument.length > 4_096 ? undefined : statOf(argument);
  if (found === undefined && looksLikeFile(argument))
    throw refused(`the file with the ${what} does not exist`, argument, `a file, or the ${what} in quotes`);
  if (found === undefined) return undefined;
  if (!found.isFile())
    throw refused(`the ${what} is ${found.isDirectory() ? 'a folder' : 'no regular file'}`, argument, 'a text file');
  if (found.size > FILE_BYTES_MAX)
    throw refused(
      `the file with the ${what} is too large`,
      argument,
      `at most ${FILE_BYTES_MAX} bytes`,
      `${found.size} bytes`,
    );
  return decoded(argument, what);
}

function fileGoal(path: string, text: string): Goal {
  const first = text.split('\n').find((line) => line.trim() !== '');
  if (first === undefined)
    throw refused('the file with the goal is empty', path, 'a text whose first line is the goal');
  const goal = first
    .replace(/^#+\s*/, '')
    .replace(/\s+/g, ' ')
    .trim();
  requireShort(goal, path, 'Begin the file with a short line that says what the tree is to do.');
  return { goal, prompt: text.trim() };
}

function decoded(path: string, what: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EACCES')
      throw refused(`the file with the ${what} cannot be read`, path, 'a file that this user may read');
    throw refused(`the file with the ${what} is not UTF-8`, path, 'a text in UTF-8');
  }
}

function requireShort(goal: string, where: string, hint: string): void {
  const bytes = new TextEncoder().encode(goal).length;
  if (bytes <= GOAL_BYTES_MAX) return;
  throw new RepriseError('invalid_argument', 'the goal is too long', {
    where,
    expected: `at most ${GOAL_BYTES_MAX} bytes in its first line`,
    actual: `${bytes} bytes`,
    hint,
  });
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // a sentence can be too long for a path, or go through a file
  }
}

function looksLikeFile(text: string): boolean {
  return !/\s/.test(text) && (/^\.{0,2}\//.test(text) || /\.(?:md|txt|markdown|rst)$/i.test(text));
}

function refused(what: string, where: string, expected: string, actual?: string): RepriseError {
  return new RepriseError('invalid_argument', what, { where, expected, ...(actual === undefined ? {} : { actual }) });
}
