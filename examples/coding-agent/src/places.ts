/** Where conversations are stored: for each folder to work in, a folder of worlds outside it. */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** The folder with the worlds for a folder to work in. */
export function worldsOf(folder: string, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME || path.join(os.homedir(), '.local', 'state');
  const name = path.basename(folder).replace(/[^A-Za-z0-9._-]/g, '_') || 'root';
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 8);
  return path.join(state, 'reprise-coding-agent', `${name}-${digest}`);
}

/** The numbers of the existing worlds: 1 is the first, and every fork gets the next number. */
export async function worldsIn(folder: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch(() => []);
  const numbers = names.flatMap((name) => name.match(/^(\d+)\.db$/)?.[1] ?? []).map(Number);
  return numbers.sort((a, b) => a - b);
}

/** The file of a world. */
export function worldFile(folder: string, number: number): string {
  return path.join(folder, `${number}.db`);
}
