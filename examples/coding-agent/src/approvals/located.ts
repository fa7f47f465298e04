/** Finds the real place that a call is about, for the patterns of approvals. */
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { Call } from './patterns.js';

/**
 * Adds the real place inside the folder to a call: symbolic links are followed, names that do not exist yet are kept.
 * A path that leads out of the folder, or that cannot be followed, has no place, so that no pattern matches. Neither has
 * a command with a word that is such a link, or leads through one.
 *
 * @param root the folder of the agent
 */
export function located(call: Call, root: string): Call {
  const { tool, args } = call;
  const given = givenPath(args);
  const place = given === undefined ? undefined : placeIn(root, given);
  if (place === undefined || leadsOut(args, path.join(root, place), root)) return { tool, args };
  return { tool, args, place };
}

/** Whether a word of a command follows a symbolic link out of the folder, or a link that leads nowhere. */
function leadsOut(args: unknown, folder: string, root: string): boolean {
  const { command, argv } = args as { readonly command?: unknown; readonly argv?: unknown };
  const words = typeof command === 'string' ? command.split(/[\s'"]+/) : Array.isArray(argv) ? argv : [];
  if (words.length > WORDS_MAX) return true;
  return words.some((word) => typeof word === 'string' && isLinkOut(word, folder, root));
}

/** No pattern covers a command of more words. */
const WORDS_MAX = 1_000;

function isLinkOut(word: string, folder: string, root: string): boolean {
  // What comes behind a colon is not part of a path: `tests/a.py::test_b`.
  const [given = ''] = word.split(':');
  const names = given.split('/').filter((name) => name !== '' && name !== '.');
  if (path.isAbsolute(given) || given.includes('\0') || names.includes('..')) return false; // seen as written
  try {
    const top = realpathSync(root);
    const real = path.relative(top, realPath(realpathSync(folder), names));
    return real === '..' || real.startsWith(`..${path.sep}`) || path.isAbsolute(real);
  } catch (error) {
    return !NO_FILE.has((error as NodeJS.ErrnoException).code ?? '') || isLink(path.join(folder, given));
  }
}

/** The word is no path of a file: a name behind a file, or one that is too long. */
const NO_FILE: ReadonlySet<string> = new Set(['ENOTDIR', 'ENAMETOOLONG', 'ENOENT']);

function isLink(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  } catch {
    return false;
  }
}

/** The path in the arguments of a file tool or of a command. */
function givenPath(args: unknown): string | undefined {
  if (typeof args !== 'object' || args === null) return undefined;
  const { path: file, cwd = '.' } = args as { readonly path?: unknown; readonly cwd?: unknown };
  const given = file ?? cwd;
  return typeof given === 'string' ? given : undefined;
}

function placeIn(root: string, given: string): string | undefined {
  const names = given.split('/').filter((name) => name !== '' && name !== '.');
  if (path.isAbsolute(given) || /[\0\\]/.test(given) || names.includes('..')) return undefined;
  try {
    const top = realpathSync(root);
    const place = path.relative(top, realPath(top, names));
    const shown = place.split(path.sep).join('/');
    return shown === '..' || shown.startsWith('../') || path.isAbsolute(place) ? undefined : shown || '.';
  } catch {
    return undefined;
  }
}

/** The real path of the longest part that exists, and the names that do not. @throws for a link that leads nowhere */
function realPath(top: string, names: readonly string[]): string {
  let real = top;
  for (const [at, name] of names.entries()) {
    const next = path.join(real, name);
    if (lstatSync(next, { throwIfNoEntry: false }) === undefined) return path.join(real, ...names.slice(at));
    real = realpathSync(next);
  }
  return real;
}
