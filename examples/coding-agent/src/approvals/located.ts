/** Finds the real place that a call is about, for the patterns of approvals. */
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import type { Call } from './patterns.js';

/**
 * Adds the real place inside the folder to a call: symbolic links are followed, names that do not exist yet are kept.
 * A path that leads out of the folder, or that cannot be followed, has no place, so that no pattern matches.
 *
 * @param root the folder of the agent
 */
export function located(call: Call, root: string): Call {
  const { tool, args } = call;
  const given = givenPath(args);
  return given === undefined ? { tool, args } : { tool, args, place: placeIn(root, given) };
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
