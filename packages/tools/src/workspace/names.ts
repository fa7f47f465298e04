/** Names, and the patterns that they fit. Names are compared in ASCII lower case: disks differ. */
import { asciiLower } from '@reprise/contracts';

/** What a recursive walk does not enter unless it is asked for by name: others' code, and what a build made. */
export const IGNORED_NAMES: readonly string[] = Object.freeze(['node_modules', '.git', '.hg', '.svn']);

/** The temporary files of what writes: a crash can leave one behind. */
export const TEMPORARY_NAME = /^\.reprise-.*\.tmp$/s;

/**
 * Whether a name fits a pattern in which `*` stands for any text.
 *
 * @example fitsPattern('.env.local', '.env*') // true
 */
export function fitsPattern(name: string, pattern: string): boolean {
  const text = asciiLower(name);
  const [first = '', ...rest] = asciiLower(pattern).split('*');
  if (!text.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return text === first;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether a name fits any of some patterns. */
export function fitsAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => fitsPattern(name, pattern));
}

/** Whether a path lies in a repository's own folder, where writing a file can mean running a program. */
export function isGitPath(names: readonly string[]): boolean {
  return names.some((name) => asciiLower(name) === '.git');
}
