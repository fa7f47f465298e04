/** The sample world's command: `npm start [-- FOLDER]`. */
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRepriseError } from 'reprise';
import { type ModelClient, openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { type Arguments, readArguments, USAGE } from './arguments.js';
import { MODEL_NAME, startModelServer } from './model-server.js';
import { lineFor } from './progress.js';
import { survey } from './survey.js';

const HOME = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const OPENAI_BASE_URL = 'https://api.openai.com/v1';
const OPENAI_MODEL = 'gpt-5-mini';

/** Exit codes: 0 done, 1 the run or the verification failed, 2 incorrect use, 130 stopped with Ctrl-C. */
async function main(): Promise<number> {
  let args: Arguments;
  try {
    args = readArguments(process.argv.slice(2), process.cwd(), HOME);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (args.help) {
    console.log(USAGE);
    return 0;
  }
  if (!(await isFolder(args.folder))) {
    console.error(`${args.folder} is not a folder.\n\n${USAGE}`);
    return 2;
  }
  await mkdir(args.out, { recursive: true }).catch(() => undefined);
  if (!(await isFolder(args.out))) {
    console.error(`${args.out} cannot be made a folder.\n\n${USAGE}`);
    return 2;
  }
  return run(args);
}

async function run(args: Arguments): Promise<number> {
  const file = path.join(args.out, 'world.db');
  const { model, name, close } = await modelFor(args);
  const interrupt = new AbortController();
  const stopped = () => interrupt.abort();
  process.once('SIGINT', stopped).once('SIGTERM', stopped);
  if (!args.quiet) console.log(`surveying ${args.folder}\nmodel: ${name}`);
  try {
    const { outcome, report, verified, resumed } = await survey({
      folder: args.folder,
      out: args.out,
      store: sqlite(file),
      model,
      secrets: environmentSecret,
      signal: interrupt.signal,
      onEvent: (event) => {
        const line = lineFor(event);
        if (line !== undefined && !args.quiet) console.log(line);
      },
    });
    if (resumed && !args.quiet) console.log('(went on with a run that had been interrupted)');
    if (outcome.text !== '') console.log(`\n${outcome.text}\n`);
    const { stop } = outcome;
    console.log(`world: ${file}`);
    console.log(stop.kind === 'Completed' ? `report: ${report}` : 'report: none');
    console.log(`replay identical: ${verified.records} records, head sha256:${verified.head.digest}`);
    if (stop.kind === 'Completed') return 0;
    const why = stop.kind === 'Failed' ? stop.code : stop.kind === 'LimitsExceeded' ? stop.limit : 'cancelled';
    console.error(`The run did not complete: ${why}.`);
    return 1;
  } catch (error) {
    if (interrupt.signal.aborted) {
      console.error(`\nInterrupted. Everything up to here is in ${file}; run the same command to go on.`);
      return 130;
    }
    console.error(isRepriseError(error) ? error.message : error);
    return 1;
  } finally {
    await close();
  }
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
    return { model: client, name: `${MODEL_NAME} (embedded, at ${server.baseUrl})`, close: () => server.close() };
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
