/** The chat page's command: serves it on this machine. */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { isRepriseError, openWorld } from 'reprise';
import { type ModelClient, openAiCompatible } from 'reprise/providers';
import { pageFile } from 'reprise/server';
import { sqlite } from 'reprise/sqlite';
import { print, printError } from 'reprise/terminal';
import { bundlePage } from './bundle.js';
import { startChatServer } from './server.js';
import { embeddedModel, waiter } from './waiter.js';

const USAGE = `chat [options]

Serves a chat page on this machine.

  --port N           the port (4400; 0 for any that is free)
  --host NAME        another name under which the page is reached, such as that of a proxy; may be repeated
  --world FILE       where conversations are kept (chat.db)
  --model NAME       a real model, with --base-url or OPENAI_API_KEY; else a few rules answer
  --word-ms N        the pause of these rules between two words, in milliseconds (40)
  --base-url URL     a server that speaks chat-completions
  --help             this text`;

/** Exit codes: 0 stopped, 1 failed, 2 incorrect use. */
async function main(): Promise<number> {
  const { port, host: hosts, world: file, help, ...model } = readOptions();
  if (help) {
    print(USAGE);
    return 0;
  }
  const read = (name: string) => readFile(new URL(`../page/${name}`, import.meta.url), 'utf8');
  const files = {
    '/': pageFile('text/html; charset=utf-8', await read('index.html')),
    '/page.css': pageFile('text/css; charset=utf-8', await read('page.css')),
    '/page.js': pageFile('text/javascript; charset=utf-8', await bundlePage()),
  };
  await using world = await openWorld({
    store: sqlite(file),
    models: { main: modelFor(model) },
    agents: [waiter],
    secrets: async (name) => process.env[name] ?? '',
  });
  const server = await startChatServer({ world, agent: waiter, files, port: Number(port), hosts });
  print(`chat at ${server.url}  (Ctrl-C stops it; conversations are in ${file})`);
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  await server.close();
  return 0;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4400' },
      host: { type: 'string', multiple: true, default: [] },
      world: { type: 'string', default: 'chat.db' },
      model: { type: 'string' },
      'word-ms': { type: 'string', default: '40' },
      'base-url': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535)
    throw new TypeError(`invalid option --port: expected a number up to 65535, got "${values.port}"`);
  if (!/^\d{1,4}$/.test(values['word-ms']))
    throw new TypeError(`invalid option --word-ms: expected a number up to 9999, got "${values['word-ms']}"`);
  for (const name of values.host)
    if (!/^[a-z\d.-]+(?::\d+)?$/i.test(name))
      throw new TypeError(
        `invalid option --host: expected a name such as chat.example or chat.example:8443, got "${name}"`,
      );
  return values;
}

interface ModelOptions {
  readonly model?: string | undefined;
  readonly 'base-url'?: string | undefined;
  readonly 'word-ms': string;
}

function modelFor({ model, 'base-url': baseUrl, 'word-ms': wordMs }: ModelOptions): ModelClient {
  if (model === undefined) return embeddedModel(Number(wordMs));
  const key = process.env.OPENAI_API_KEY;
  if (baseUrl === undefined && key === undefined)
    throw new TypeError('missing option for --model: set --base-url, or OPENAI_API_KEY');
  return openAiCompatible({
    baseUrl: baseUrl ?? 'https://api.openai.com/v1',
    model,
    ...(key === undefined ? {} : { apiKey: { secret: 'OPENAI_API_KEY' } }),
  });
}

process.exitCode = await main().catch((error: unknown) => {
  const isUse = error instanceof TypeError;
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
    printError('The port is in use: choose another with --port, or stop the server that has it.');
    return 1;
  }
  printError(isUse ? `${error.message}\n\n${USAGE}` : isRepriseError(error) ? error.message : error);
  return isUse ? 2 : 1;
});
