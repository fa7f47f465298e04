/** Names, and patterns that match them. Names are compared in ASCII lower case, since some disks ignore case. */
import { asciiLower } from '@reprise/contracts';

/** Folders that a recursive walk enters only when they are requested by name: dependencies and repository data. */
export const IGNORED_NAMES: readonly string[] = Object.freeze(['node_modules', '.git', '.hg', '.svn']);

/** The names of temporary files of a write: a crash can leave one behind. */
export const TEMPORARY_NAME = /^\.reprise-.*\.tmp$/s;

/**
 * Whether a name matches a pattern in which `*` stands for any text.
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

/** Whether a name matches any of the patterns. */
export function fitsAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => fitsPattern(name, pattern));
}

/** Whether a path is inside a repository's `.git` folder, where writing a file can lead to running a program. */
export function isGitPath(names: readonly string[]): boolean {
  return names.some((name) => asciiLower(name) === '.git');
}
