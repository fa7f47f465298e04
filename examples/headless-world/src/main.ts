/** The sample world's command: `npm start [-- FOLDER]`. */
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRepriseError, type VerifyReport } from 'reprise';
import { failureWords } from 'reprise/history';
import { type ModelClient, openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { print, printError } from 'reprise/terminal';
import { type Arguments, readArguments, USAGE } from './arguments.js';
import { nextSteps, proof, wrapped } from './closing.js';
import { MODEL_NAME, startModelServer } from './model-server.js';
import { TAMPERED, WORLD } from './own-output.js';
import { lineFor, shortened } from './progress.js';
import { type SurveyStart, survey } from './survey.js';
import { tamper } from './tamper.js';

const HOME = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const OPENAI_BASE_URL = 'https://api.openai.com/v1';
const OPENAI_MODEL = 'gpt-5-mini';

/** Exit codes: 0 done, 1 the run or the verification failed, 2 incorrect use, 130 stopped with Ctrl-C. */
async function main(): Promise<number> {
  let args: Arguments;
  try {
    args = readArguments(process.argv.slice(2), process.cwd(), HOME);
  } catch (error) {
    printError(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (args.help) {
    print(USAGE);
    return 0;
  }
  if (!(await isFolder(args.folder))) {
    printError(`${args.folder} is not a folder.\n\n${USAGE}`);
    return 2;
  }
  await mkdir(args.out, { recursive: true }).catch(() => undefined);
  if (!(await isFolder(args.out))) {
    printError(`${args.out} cannot be made a folder.\n\n${USAGE}`);
    return 2;
  }
  return run(args);
}

async function run(args: Arguments): Promise<number> {
  const world = path.join(args.out, WORLD);
  const { model, name, close } = await modelFor(args);
  const interrupt = new AbortController();
  const stopped = () => interrupt.abort();
  process.once('SIGINT', stopped).once('SIGTERM', stopped);
  const say = args.quiet ? () => undefined : (text: string) => print(text);
  const begun = Date.now();
  let isPast = false;
  say(`surveying ${args.folder}\nmodel: ${name}`);
  try {
    const { outcome, report, verified } = await survey({
      folder: args.folder,
      out: args.out,
      own: args.own,
      store: sqlite(world),
      model,
      secrets: environmentSecret,
      signal: interrupt.signal,
      onStart: (start) => {
        isPast = start.resumed;
        startLines(start).forEach(say);
      },
      onEvent: (event) => {
        if (isPast && event.at >= begun) {
          isPast = false;
          say('and now it goes on:');
        }
        const line = lineFor(event);
        if (line !== undefined) say(shortened(line, columns()));
      },
    });
    if (outcome.text !== '') print(wrapped(`\n${outcome.text}\n`, columns()));
    const { stop } = outcome;
    const isDone = stop.kind === 'Completed';
    const isFound =
      !isDone || args.quiet || (await prove({ world, report, out: args.out }, verified, interrupt.signal));
    print(`world: ${world}`);
    print(isDone ? `report: ${report}` : 'report: none');
    print(`replay identical: ${verified.records} records, head sha256:${verified.head.digest}`);
    if (isDone) return isFound ? 0 : 1;
    const why = stop.kind === 'LimitsExceeded' ? stop.limit : 'cancelled';
    printError(
      `The run did not complete: ${stop.kind === 'Failed' ? failureWords(stop.code, outcome.error) : why}.`.replace(
        '..',
        '.',
      ),
    );
    return 1;
  } catch (error) {
    if (interrupt.signal.aborted) {
      const text = `\nInterrupted. Everything up to here is in ${world}; run the same command to go on.`;
      printError(wrapped(text, columns()));
      return 130;
    }
    printError(isRepriseError(error) ? error.message : error);
    return 1;
  } finally {
    await close();
  }
}

function startLines({ number, resumed }: SurveyStart): string[] {
  if (resumed) return ['a survey was interrupted; what it did before:'];
  return number === 1 ? [] : [`survey ${number} of this world`];
}

/** Prints what the replay showed, changes a byte of a copy, and says what to try next; false if that was not found. */
async function prove(
  { world, report, out }: { readonly world: string; readonly report: string; readonly out: string },
  verified: VerifyReport,
  signal: AbortSignal,
): Promise<boolean> {
  const places = { cwd: process.cwd(), home: HOME, world, report, copy: path.join(out, TAMPERED) };
  const tampering = await tamper(world, places.copy, signal);
  print(wrapped(`${proof(verified, tampering, places)}\n`, columns()));
  print(`${nextSteps(places, tampering)}\n`);
  return tampering.found !== undefined;
}

/** The width of the terminal; unbounded where the output is no terminal, or one that says 0 because it does not know. */
function columns(): number {
  return process.stdout.columns || Number.POSITIVE_INFINITY;
}

/** The embedded model, or a real one if there is a key or an address. */
async function modelFor({
  baseUrl,
  model,
}: Arguments): Promise<{ model: ModelClient; name: string; close(): Promise<void> }> {
  const key = process.env.OPENAI_API_KEY;
  if (baseUrl === undefined && key === undefined) {
    const server = await startModelServer();
    const client = openAiCompatible({ baseUrl: server.baseUrl, model: MODEL_NAME });
    return {
      model: client,
      name: `${MODEL_NAME} at ${server.baseUrl} (built-in rules, needs no key)`,
      close: () => server.close(),
    };
  }
  const url = baseUrl ?? OPENAI_BASE_URL;
  const name = model ?? OPENAI_MODEL;
  const auth = key === undefined ? {} : { apiKey: { secret: 'OPENAI_API_KEY' } };
  return {
    model: openAiCompatible({ baseUrl: url, model: name, ...auth }),
    name: `${name} at ${url}`,
    close: async () => undefined,
  };
}

async function environmentSecret(name: string): Promise<string> {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

async function isFolder(folder: string): Promise<boolean> {
  return stat(folder).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
}

process.exitCode = await main();
