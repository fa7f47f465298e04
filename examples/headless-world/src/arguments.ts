import { createHash } from 'node:crypto';
import path from 'node:path';
import { parseArgs } from 'node:util';

/** The options from the command line. */
export interface Arguments {
  readonly folder: string;
  /** The folder for the world and the report. */
  readonly out: string;
  /** The folders that hold nothing but output: `out`, and the folder with the outputs of all surveys. */
  readonly own: readonly string[];
  readonly baseUrl: string | undefined;
  readonly model: string | undefined;
  readonly quiet: boolean;
  readonly help: boolean;
}

/** The help text. */
export const USAGE = `npm start [-- FOLDER] [options]

Surveys FOLDER (this repository when absent) with a headless agent and writes a report.

  --out DIR          where the world and the report go (a folder under worlds/ for each FOLDER)
  --base-url URL     a chat-completions endpoint, for example http://127.0.0.1:11434/v1
  --model NAME       the model's name there
  --quiet            only the result: no progress, no changed byte, no commands to try
  --help             this text

Without --base-url and without OPENAI_API_KEY an embedded, deterministic model is used: no key, no network.
Stopped half-way (Ctrl-C, kill)? Run it again: it goes on where it stands.`;

/**
 * Reads the command line.
 *
 * @param argv without the program
 * @param cwd the user's current folder
 * @param home the repository: the default folder to survey, and the default place for worlds
 * @throws TypeError with the reason, for an option that is unknown or cannot be used here
 */
export function readArguments(argv: readonly string[], cwd: string, home: string): Arguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      'base-url': { type: 'string' },
      model: { type: 'string' },
      quiet: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (positionals.length > 1) throw new TypeError(`one FOLDER, not ${positionals.length}: ${positionals.join(' ')}`);
  const baseUrl = values['base-url'];
  if (baseUrl !== undefined && !(URL.canParse(baseUrl) && /^https?:$/.test(new URL(baseUrl).protocol))) {
    throw new TypeError(`--base-url is not an http address: ${baseUrl}`);
  }
  const folder = positionals[0] === undefined ? home : path.resolve(cwd, positionals[0]);
  const worlds = path.join(home, 'worlds');
  const out = values.out === undefined ? path.join(worlds, slugOf(folder)) : path.resolve(cwd, values.out);
  return {
    folder,
    out,
    own: values.out === undefined ? [worlds] : [worlds, out],
    baseUrl,
    model: values.model,
    quiet: values.quiet,
    help: values.help,
  };
}

/** A name for a folder's world: readable, and different for folders of the same name. */
function slugOf(folder: string): string {
  const name = path.basename(folder).replace(/[^A-Za-z0-9._-]/g, '_') || 'root';
  return `${name}-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`;
}
