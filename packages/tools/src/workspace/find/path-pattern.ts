/**
 * Path patterns: `*` within a name, `**` for any folders, `{a,b}` for alternatives. Matching never backtracks, since a
 * model writes the patterns.
 */
import { namePattern } from '../folder/names.js';

/** The most patterns that the braces of one pattern may expand to. */
const ALTERNATIVES_MAX = 64;

/** Checks paths against a pattern; all methods take names, from the folder that the pattern starts at. */
interface PathPattern {
  matches(folder: readonly string[], name: string): boolean;
  /** Whether anything inside a folder can match. */
  matchesInside(folder: readonly string[]): boolean;
}

/**
 * Compiles a pattern.
 *
 * @returns undefined when a brace is not closed, or there are too many alternatives
 * @example pathPattern('src/**' + '/*.{ts,js}')?.matches(['src', 'a'], 'b.ts') // true
 */
export function pathPattern(pattern: string): PathPattern | undefined {
  const alternatives = expandBraces(pattern)?.map(alternative);
  if (alternatives === undefined) return undefined;
  return {
    matches: (folder, name) => alternatives.some((one) => one.matches(folder, name)),
    matchesInside: (folder) => alternatives.some((one) => one.matchesInside(folder)),
  };
}

/**
 * Expands a pattern's braces into patterns without braces.
 *
 * @returns undefined when a brace is not closed, or there are too many alternatives
 * @example expandBraces('a.{ts,js}') // ['a.ts', 'a.js']
 */
function expandBraces(pattern: string): readonly string[] | undefined {
  const open = pattern.lastIndexOf('{');
  if (open < 0) return pattern.includes('}') ? undefined : [pattern];
  const close = pattern.indexOf('}', open);
  if (close < 0) return undefined;
  const all: string[] = [];
  for (const choice of pattern.slice(open + 1, close).split(',')) {
    const inner = expandBraces(`${pattern.slice(0, open)}${choice}${pattern.slice(close + 1)}`);
    if (inner === undefined || all.length + inner.length > ALTERNATIVES_MAX) return undefined;
    all.push(...inner);
  }
  return all;
}

/** A step of a pattern: any folders, or a name. */
type Step = '**' | ((name: string) => boolean);

/** Compiles a pattern without braces. Each step is compared with each name of a path at most once. */
function alternative(pattern: string): PathPattern {
  const texts = pattern
    .split('/')
    .filter((step, at, all) => step !== '' && step !== '.' && !(step === '**' && all[at - 1] === '**'));
  const steps = texts.map((text): Step => (text === '**' ? text : namePattern(text)));
  const last = steps.at(-1);
  const reachedIn = remembered((folder: readonly string[]) => reachedBy(steps, folder));
  return {
    matches(folder, name) {
      if (last === undefined || (last !== '**' && !last(name))) return false; // most paths end here
      const reached = reachedIn(folder);
      return typeof last === 'function' ? has(reached, steps.length - 1) : followed(steps, reached, name);
    },
    matchesInside: (folder) => reachedIn(folder).some((is, at) => is && (at < steps.length || last === '**')),
  };
}

/** Remembers the last answer: the files of a folder are checked one after another. */
function remembered<T>(answer: (folder: readonly string[]) => T): (folder: readonly string[]) => T {
  let last: { readonly folder: readonly string[]; readonly answer: T } | undefined;
  return (folder) => {
    if (last?.folder !== folder) last = { folder, answer: answer(folder) };
    return last.answer;
  };
}

/** Which numbers of steps the names can take up: `reached[n]` when the first `n` steps fit all names. */
function reachedBy(steps: readonly Step[], names: readonly string[]): boolean[] {
  let reached = withFolders(steps, [true]);
  for (const name of names) {
    if (!reached.includes(true)) return [];
    reached = withFolders(steps, afterName(steps, reached, name));
  }
  return reached;
}

function afterName(steps: readonly Step[], reached: readonly boolean[], name: string): boolean[] {
  const next: boolean[] = new Array(steps.length + 1).fill(false);
  for (const [at, step] of steps.entries()) {
    if (step === '**') {
      // Folders go on: the name is one of those that `**` stands for.
      if (reached[at + 1] === true) next[at + 1] = true;
    } else if (reached[at] === true && step(name)) next[at + 1] = true;
  }
  return next;
}

/** `**` stands for no folder, too. */
function withFolders(steps: readonly Step[], reached: boolean[]): boolean[] {
  for (const [at, step] of steps.entries()) if (step === '**' && reached[at] === true) reached[at + 1] = true;
  return reached;
}

function followed(steps: readonly Step[], reached: readonly boolean[], name: string): boolean {
  return has(withFolders(steps, afterName(steps, reached, name)), steps.length);
}

function has(reached: readonly boolean[], at: number): boolean {
  return reached[at] === true;
}
