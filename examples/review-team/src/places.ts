/** Where reviews are kept: for each repository a folder of worlds outside it. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The file of the review of a folder: the last one, or with `fresh` the next. */
export function worldOf(folder: string, fresh: boolean, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME || path.join(os.homedir(), '.local', 'state');
  const name = path.basename(folder).replace(/[^A-Za-z0-9._-]/g, '_') || 'root';
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 8);
  const place = path.join(state, 'reprise-review-team', `${name}-${digest}`);
  mkdirSync(place, { recursive: true });
  const numbers = readdirSync(place).flatMap((file) => /^(\d+)\.db$/.exec(file)?.[1] ?? []);
  const last = Math.max(0, ...numbers.map(Number));
  return path.join(place, `${fresh || last === 0 ? last + 1 : last}.db`);
}
