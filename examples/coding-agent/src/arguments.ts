import path from 'node:path';
import { parseArgs } from 'node:util';

/** The options from the command line. */
export interface Arguments {
  /** The folder to work in. */
  readonly folder: string;
  /** The folder with the worlds; derived from the folder to work in if absent. */
  readonly worlds: string | undefined;
  readonly model: string | undefined;
  readonly baseUrl: string | undefined;
  /** The model's price, in dollars for a million tokens. */
  readonly price: { readonly in: number; readonly out: number } | undefined;
  /** The size of the model's context window, in tokens. */
  readonly window: number | undefined;
  /** Creates the demo folder first, if it does not exist. */
  readonly demo: boolean;
  /** Begins a new conversation. */
  readonly fresh: boolean;
  /** The conversation to go on with; the last one if absent. */
  readonly conversation: string | undefined;
  /** Runs this task, prints the answer, and exits. */
  readonly print: string | undefined;
  /** For `print`: the id of the message; a message with a known id is not handled twice. */
  readonly id: string | undefined;
  /** For `print`: approves everything. */
  readonly yes: boolean;
  readonly help: boolean;
}

/** The help text. */
export const USAGE = `coding-agent [FOLDER] [options]

Works with you in FOLDER (where you are, when you name none): reads, edits, runs the tests; asks before it writes or runs.

  --demo             a small folder with a failing test (./cart-demo when you name none)
  --model NAME       a real model; the key comes from ANTHROPIC_API_KEY or OPENAI_API_KEY
  --base-url URL     a server that speaks chat-completions, for example http://127.0.0.1:11434/v1 (or OPENAI_BASE_URL)
  --price IN,OUT     what the model costs, in dollars for a million tokens; then the cost is shown
  --window TOKENS    the size of the model's context window; then its fill is shown in percent
  --new              begins a new conversation; else the last one goes on
  --conversation C   goes on with conversation C; others that are not over are paused and named
  --worlds DIR       where conversations are kept (one folder for each FOLDER, under your state folder)
  --print TASK       does TASK, prints the answer, and ends
    --yes            approves what it asks for; else it is refused
    --id ID          what TASK is known by: given again, it is not done twice
  --help             this text

With --print, the exit code is 0 when the task was done, 1 when it failed or was stopped, 2 for wrong use, 3 when
something else in this conversation waits for a person (nothing is sent, and standard error says what waits), 4 when the
agent came to its end but calls were refused for want of a person, and 130 after Ctrl-C.

Without --model an embedded model is used: a few rules, no key, no network.`;

/**
 * Reads the command line.
 *
 * @param argv without the program
 * @param cwd the user's current folder
 * @throws TypeError with the reason, for an option that is unknown or cannot be used here
 */
export function readArguments(argv: readonly string[], cwd: string): Arguments {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      demo: { type: 'boolean', default: false },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      price: { type: 'string' },
      window: { type: 'string' },
      new: { type: 'boolean', default: false },
      conversation: { type: 'string' },
      worlds: { type: 'string' },
      print: { type: 'string' },
      id: { type: 'string' },
      yes: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { demo, model, print, id, yes, help, new: fresh, conversation, worlds, 'base-url': baseUrl } = values;
  if (positionals.length > 1) throw new TypeError(`one FOLDER, not ${positionals.length}: ${positionals.join(' ')}`);
  if (baseUrl !== undefined && !isAddress(baseUrl))
    throw new TypeError(`--base-url is not an http address: ${baseUrl}`);
  if (print === undefined && (yes || id !== undefined)) throw new TypeError('--yes and --id belong to --print');
  if (fresh && conversation !== undefined) throw new TypeError('--new and --conversation exclude each other');
  if (print?.trim() === '') throw new TypeError('--print wants a task');
  return {
    folder: path.resolve(cwd, positionals[0] ?? (demo ? 'cart-demo' : '.')),
    worlds: worlds === undefined ? undefined : path.resolve(cwd, worlds),
    model,
    baseUrl,
    price: values.price === undefined ? undefined : priceIn(values.price),
    window: values.window === undefined ? undefined : tokensIn(values.window),
    demo,
    fresh,
    conversation,
    print,
    id,
    yes,
    help,
  };
}

function priceIn(text: string): { readonly in: number; readonly out: number } {
  const [, dollarsIn, dollarsOut] = text.match(/^(\d+(?:\.\d{1,6})?),(\d+(?:\.\d{1,6})?)$/) ?? [];
  if (dollarsIn === undefined || dollarsOut === undefined)
    throw new TypeError(`--price wants two numbers, for example 0.25,2: ${text}`);
  return { in: Number(dollarsIn), out: Number(dollarsOut) };
}

function tokensIn(text: string): number {
  if (!/^[1-9]\d{2,8}$/.test(text))
    throw new TypeError(`--window wants a number of tokens, for example 128000: ${text}`);
  return Number(text);
}

/** Whether a text is the URL of a server. */
export function isAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
