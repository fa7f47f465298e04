/** Which mutants are in code that changed since a commit. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Mutant, ROOT } from './bundle.js';

const run = promisify(execFile);

/** Whether the line on which a mutant begins was added or changed since a commit. */
export async function changedSince(commit: string): Promise<(mutant: Mutant) => boolean> {
  const git = ['diff', '--unified=0', '--no-color', '--no-ext-diff', commit, '--', 'packages'];
  const { stdout } = await run('git', git, { cwd: ROOT, maxBuffer: 1 << 28 });
  const lines = changedLines(stdout);
  return ({ fileName, location }) => {
    const file = path.relative(ROOT, fileName).replaceAll(path.sep, '/');
    return lines.get(file)?.has(location.start.line + 1) ?? false;
  };
}

/** The lines that a diff without context adds, by file. */
function changedLines(diff: string): ReadonlyMap<string, ReadonlySet<number>> {
  const files = new Map<string, Set<number>>();
  let current = new Set<number>();
  for (const line of diff.split('\n')) {
    const file = /^\+\+\+ b\/(.*)$/.exec(line)?.[1];
    if (file !== undefined) {
      current = new Set();
      files.set(file, current);
    }
    const [, start, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    for (let n = 0; start !== undefined && n < Number(count); n++) current.add(Number(start) + n);
  }
  return files;
}
