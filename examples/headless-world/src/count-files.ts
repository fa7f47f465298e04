/**
 * A tool of this sample: counts the files of a folder and adds up their sizes, however many there are.
 *
 * In a Git repository the files are those that Git knows or would add, so nothing that `.gitignore` names is counted.
 */
import { execFile } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { defineTool } from 'reprise';
import { IGNORED_NAMES, type Tool } from 'reprise/tools';
import * as z from 'zod';
import { languageOf } from './languages.js';
import { isWithin } from './own-output.js';

/** Lines of each kind in the answer. */
const LINES_MAX = 24;

/** How much Git may print, in bytes: the names of a million files. */
const LISTING_BYTES_MAX = 128 * 1024 * 1024;

/** How many files are counted at most. */
const FILES_MAX = 1_000_000;

/** How many files are looked at before the event loop runs. */
const FILES_AT_ONCE = 256;

/** Options of {@link countFiles}. */
interface CountOptions {
  readonly folder: string;
  /** Paths in the folder that are not counted. */
  readonly leaveOut: readonly string[];
}

interface Sized {
  readonly path: string;
  readonly size: number;
}

/** Makes the tool `count_files`. */
export function countFiles({ folder, leaveOut }: CountOptions): Tool {
  return defineTool({
    name: 'count_files',
    description:
      'Counts all files of the folder and their bytes. After a heading with the totals, lines of a kind (part, language, largest, empty), a number of files, bytes, and a name.',
    args: z.strictObject({}),
    guarantee: 'idempotent',
    family: 'search',
    run: async (_, { signal }) => {
      const known = await knownToGit(folder, signal);
      const names = known ?? (await filesIn(folder, signal));
      const counted = names.filter((name) => !isWithin(name, leaveOut));
      const by = known === undefined ? `a walk of all folders but ${IGNORED_NAMES.join(', ')}` : 'git ls-files';
      const bound = counted.length > FILES_MAX ? `, stopped at ${FILES_MAX} files` : '';
      return answer(await sized(folder, counted.slice(0, FILES_MAX), signal), by + bound);
    },
  });
}

/** The files that Git lists; undefined where it lists none: outside of a repository, and in a folder that it ignores. */
function knownToGit(folder: string, signal: AbortSignal): Promise<string[] | undefined> {
  // What the repository's own settings could start is switched off: counting runs no program of the folder.
  const safe = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
  const args = [...safe, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
  return new Promise((resolve, reject) => {
    execFile('git', args, { cwd: folder, env, signal, maxBuffer: LISTING_BYTES_MAX }, (error, out) => {
      const names = [...new Set(out.split('\0'))].filter((name) => name !== '');
      if (signal.aborted) reject(signal.reason);
      else resolve(error === null && names.length > 0 ? names : undefined);
    });
  });
}

/** Every file below a folder, except in folders of dependencies and repository data. */
async function filesIn(folder: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  const left = [''];
  for (let inside = left.pop(); inside !== undefined; inside = left.pop()) {
    signal.throwIfAborted();
    if (found.length > FILES_MAX) break;
    for (const entry of await readdir(path.join(folder, inside), { withFileTypes: true }).catch(() => [])) {
      const name = inside === '' ? entry.name : `${inside}/${entry.name}`;
      if (entry.isDirectory() && !IGNORED_NAMES.includes(entry.name)) left.push(name);
      else if (entry.isFile()) found.push(name);
    }
  }
  return found;
}

async function sized(folder: string, names: readonly string[], signal: AbortSignal): Promise<Sized[]> {
  const files: Sized[] = [];
  for (const [at, name] of names.entries()) {
    if (at % FILES_AT_ONCE === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
    const stats = lstatSync(path.join(folder, name), { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isDirectory()) files.push({ path: name, size: stats.size });
  }
  return files;
}

function answer(files: readonly Sized[], by: string): string {
  const folders = new Set(files.flatMap(({ path }) => foldersOf(path))).size;
  const partOf = ({ path }: Sized): string => (path.includes('/') ? path.slice(0, path.indexOf('/') + 1) : '(top)');
  const languageIn = ({ path }: Sized): string => languageOf(path.slice(path.lastIndexOf('/') + 1));
  const single = (kind: string, some: readonly Sized[]): string[] =>
    some.slice(0, LINES_MAX).map((file) => lineOf(kind, [file], file.path));
  const bySize = [...files].sort((a, b) => b.size - a.size || (a.path < b.path ? -1 : 1));
  return [
    `Counted ${files.length} files, ${total(files)} bytes, ${folders} folders, by ${by}`,
    ...grouped('part', files, partOf),
    ...grouped('language', files, languageIn),
    ...single('largest', bySize.slice(0, 5)),
    ...single(
      'empty',
      bySize.filter(({ size }) => size === 0),
    ),
  ].join('\n');
}

function grouped(kind: string, files: readonly Sized[], keyOf: (file: Sized) => string): string[] {
  const groups = new Map<string, Sized[]>();
  for (const file of files) {
    const key = keyOf(file);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [file]);
    else group.push(file);
  }
  return [...groups]
    .sort(([a, one], [b, other]) => total(other) - total(one) || (a < b ? -1 : 1))
    .slice(0, LINES_MAX)
    .map(([name, group]) => lineOf(kind, group, name));
}

function lineOf(kind: string, files: readonly Sized[], name: string): string {
  return `${kind} ${files.length} ${total(files)} ${/["\p{C}\p{Zl}\p{Zp}]/u.test(name) ? JSON.stringify(name) : name}`;
}

function total(files: readonly Sized[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

function foldersOf(file: string): string[] {
  const names = file.split('/').slice(0, -1);
  return names.map((_, at) => names.slice(0, at + 1).join('/'));
}
