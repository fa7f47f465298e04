/** Names, and patterns that match them. Names are compared in ASCII lower case, since some disks ignore case. */
import { asciiLower } from '@reprise/contracts';

/** Folders that a recursive walk enters only when they are requested by name: dependencies and repository data. */
export const IGNORED_NAMES: readonly string[] = Object.freeze(['node_modules', '.git', '.hg', '.svn']);

/** The names of temporary files of a write: a crash can leave one behind. */
export const TEMPORARY_NAME = /^\.reprise-.*\.tmp$/s;

/**
 * Compiles a pattern in which `*` stands for any text. Matching is linear.
 *
 * @example namePattern('.env*')('.env.local') // true
 */
export function namePattern(pattern: string): (name: string) => boolean {
  const [first = '', ...rest] = asciiLower(pattern).split('*');
  const last = rest.pop();
  if (last === undefined) return (name) => asciiLower(name) === first;
  const between = rest.filter((part) => part !== '');
  return (name) => {
    const text = asciiLower(name);
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const part of between) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.length - last.length >= at;
  };
}

/** Compiles patterns: whether a name matches any of them. */
export function anyNamePattern(patterns: readonly string[]): (name: string) => boolean {
  const compiled = patterns.map(namePattern);
  return (name) => compiled.some((fits) => fits(name));
}

/** Whether a path is inside a repository's `.git` folder, where writing a file can lead to running a program. */
export function isGitPath(names: readonly string[]): boolean {
  return names.some((name) => asciiLower(name) === '.git');
}
