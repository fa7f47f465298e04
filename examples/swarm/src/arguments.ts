/** The command line, and the places of worlds. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** The help text. */
export const USAGE = `swarm [FOLDER] [options]

Three agents research FOLDER (this repository, when you name none) with
swarms, judge what they share, and one of them loses its trust.
It only reads. No key and no network are needed.

  --world FILE   where it is kept (else a file of FOLDER in your state folder)
  --new          begins again; else the last research goes on
  --pace MS      how long the embedded model takes for an answer
  --stay         stays open for your MCP client afterwards, until Ctrl-C
  --help         this text

Exit codes: 0 a report, 1 it failed, 2 wrong use, 130 after Ctrl-C: the same
command continues.`;

/** The options from the command line. */
export interface Arguments {
  readonly folder: string;
  readonly world: string | undefined;
  readonly fresh: boolean;
  readonly pace: number | undefined;
  readonly stay: boolean;
  readonly help: boolean;
}

/**
 * Reads the command line.
 *
 * @throws TypeError with the reason, for what cannot be used
 */
export function readArguments(argv: readonly string[], cwd: string, root: string): Arguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      world: { type: 'string' },
      new: { type: 'boolean', default: false },
      pace: { type: 'string' },
      stay: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const [folder, ...more] = positionals;
  if (more.length > 0) throw new TypeError(`one folder is researched at a time, not ${positionals.join(' and ')}`);
  if (values.pace !== undefined && !/^\d{1,5}$/.test(values.pace))
    throw new TypeError(`--pace takes milliseconds, 0 to 99999, not ${values.pace}`);
  return {
    folder: folder === undefined ? root : path.resolve(cwd, folder),
    world: values.world === undefined ? undefined : path.resolve(cwd, values.world),
    fresh: values.new,
    pace: values.pace === undefined ? undefined : Number(values.pace),
    stay: values.stay,
    help: values.help,
  };
}

/** Refuses what cannot be researched. @throws TypeError */
export function requireFolder(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) throw new TypeError(`there is no folder ${folder}`);
  if (!stats.isDirectory()) throw new TypeError(`${folder} is a file, not a folder`);
  let names: readonly string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    throw new TypeError(`${folder} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  if (names.length === 0) throw new TypeError(`${folder} is empty: there is nothing to research`);
}

/** The file of the research of a folder: the last one, or with `fresh` the next. */
export function worldOf(folder: string, fresh: boolean, env: NodeJS.ProcessEnv): string {
  const state = env.XDG_STATE_HOME || path.join(os.homedir(), '.local', 'state');
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 8);
  const place = path.join(state, 'reprise-swarm', digest);
  mkdirSync(place, { recursive: true });
  const numbers = readdirSync(place).flatMap((file) => /^(\d+)\.db$/.exec(file)?.[1] ?? []);
  const last = Math.max(0, ...numbers.map(Number));
  return path.join(place, `${fresh || last === 0 ? last + 1 : last}.db`);
}
