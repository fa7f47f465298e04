import { shortText } from '../text/cut-text.js';

/** How many problems are named: enough to correct a call. */
const PROBLEMS_MAX = 4;

/** The most UTF-16 units of one problem: a name that a caller chose may be long. */
const PROBLEM_UNITS_MAX = 200;

/**
 * The problems of arguments that a schema refused, for the caller that sent them: the first four, each short and well
 * formed, since a path or a message may repeat texts of the caller.
 *
 * @example problemsOf(parsed.error.issues) // ['after: Invalid string: must be well-formed text of 1 to 128 bytes']
 */
export function problemsOf(
  issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[],
): readonly string[] {
  return issues
    .slice(0, PROBLEMS_MAX)
    .map(({ path, message }) => shortText(`${path.map(String).join('.')}: ${message}`, PROBLEM_UNITS_MAX));
}

/**
 * What a schema expected, in the words of its issue and without the sentence around them, for the `expected` of an error.
 *
 * @example expectedIn('Invalid input: expected number, received string') // 'a number'
 */
export function expectedIn(message: string): string {
  const [, said = message] =
    /^(?:Invalid (?:input|option)|Too (?:big|small)): expected (.+?)(?:, received .*)?$/s.exec(message) ?? [];
  const named = ARTICLES[said] ?? said;
  return named
    .replace(/^(?:number|int) to be /, 'a number ')
    .replace(/^string to have /, 'text of ')
    .replace(/^array to have /, 'a list of ');
}

const ARTICLES: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};
