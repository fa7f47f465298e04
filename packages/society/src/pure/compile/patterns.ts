/** Lists of patterns as declared capabilities use them; the language is the kernel's. */
import { matchesAny } from '@reprise/kernel/authority';

/** What an absent list of patterns stands for. */
export const ALL: readonly string[] = ['*'];

/** Whether a pattern of a list matches a group or tool. */
export function reaches(patterns: readonly string[], name: string): boolean {
  return matchesAny(patterns, name);
}

/** Whether a list names a group itself: patterns with a star do not count. */
export function names(patterns: readonly string[], name: string): boolean {
  return patterns.includes(name);
}
