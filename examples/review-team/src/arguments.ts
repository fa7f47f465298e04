/** The command line. */
import path from 'node:path';
import { parseArgs } from 'node:util';

/** The options from the command line. */
export interface Arguments {
  /** The repository to review. */
  readonly folder: string;
  /** The file of the world; derived from the folder when absent. */
  readonly world: string | undefined;
  /** A folder of skills in place of those of this example. */
  readonly skills: string | undefined;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** How many specialists work at once. */
  readonly max: number;
  /** How long the embedded model takes for an answer, in milliseconds. */
  readonly pace: number | undefined;
  /** Begins another review. */
  readonly fresh: boolean;
  /** Prints lines instead of a picture. */
  readonly plain: boolean;
  /** The file for the report, besides the terminal. */
  readonly out: string | undefined;
  readonly help: boolean;
}

/** The help text. */
export const USAGE = `review-team [FOLDER] [options]

A team of specialists reviews the repository in FOLDER (this one, when you name none), and makes one report. It only reads.

  --model NAME       a real model; the key comes from ANTHROPIC_API_KEY or OPENAI_API_KEY
  --base-url URL     a server that speaks chat-completions, for example http://127.0.0.1:11434/v1 (or OPENAI_BASE_URL)
  --max N            how many specialists work at once, 1 to 16 (3)
  --skills DIR       another folder of skills
  --world FILE       where the review is kept (a file for each FOLDER, under your state folder)
  --new              begins another review; else the last one goes on, or its report is printed again
  --out FILE         writes the report to FILE as well
  --plain            prints lines instead of a picture
  --pace MS          how long the embedded model takes for an answer
  --help             this text

The exit code is 0 when there is a report, 1 when the review failed, 2 for wrong use, 3 when a task failed and a decision is
needed, and 130 after Ctrl-C: then the same command continues.

Without --model an embedded model is used: rules that search and read the files, no key, no network.`;

/**
 * Reads the command line.
 *
 * @param argv without the program
 * @param cwd the user's current folder
 * @param root the repository that is reviewed when none is named
 * @throws TypeError with the reason, for an option that is unknown or cannot be used
 */
export function readArguments(argv: readonly string[], cwd: string, root: string): Arguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      world: { type: 'string' },
      skills: { type: 'string' },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      max: { type: 'string', default: '3' },
      pace: { type: 'string' },
      new: { type: 'boolean', default: false },
      plain: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (positionals.length > 1) throw new TypeError(`one folder is reviewed at a time, not ${positionals.join(' and ')}`);
  const at = (file: string | undefined) => (file === undefined ? undefined : path.resolve(cwd, file));
  return {
    folder: positionals[0] === undefined ? root : path.resolve(cwd, positionals[0]),
    world: at(values.world),
    skills: at(values.skills),
    model: values.model,
    baseUrl: values['base-url'],
    max: wholeNumber('--max', values.max, 1, 16),
    pace: values.pace === undefined ? undefined : wholeNumber('--pace', values.pace, 0, 60_000),
    fresh: values.new,
    plain: values.plain,
    out: at(values.out),
    help: values.help,
  };
}

function wholeNumber(option: string, given: string, from: number, to: number): number {
  const number = /^\d{1,6}$/.test(given) ? Number(given) : Number.NaN;
  if (!(number >= from && number <= to))
    throw new TypeError(`${option} takes a whole number from ${from} to ${to}, not ${given}`);
  return number;
}
