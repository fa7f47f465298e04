/** The chat page's command: serves it on this machine. */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { isRepriseError, openWorld } from 'reprise';
import { type ModelClient, openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { bundlePage } from './bundle.js';
import { startChatServer } from './server.js';
import { embeddedModel, waiter } from './waiter.js';

const USAGE = `chat [options]

Serves a chat page on this machine.

  --port N           the port (4400; 0 for any that is free)
  --world FILE       where conversations are kept (chat.db)
  --model NAME       a real model, with --base-url or OPENAI_API_KEY; else a few rules answer
  --base-url URL     a server that speaks chat-completions
  --help             this text`;

/** Exit codes: 0 stopped, 1 failed, 2 incorrect use. */
async function main(): Promise<number> {
  const { port, world: file, model, 'base-url': baseUrl, help } = readOptions();
  if (help) {
    console.log(USAGE);
    return 0;
  }
  const read = (name: string) => readFile(new URL(`../page/${name}`, import.meta.url), 'utf8');
  const files = {
    '/': { type: 'text/html; charset=utf-8', body: await read('index.html') },
    '/page.css': { type: 'text/css; charset=utf-8', body: await read('page.css') },
    '/page.js': { type: 'text/javascript; charset=utf-8', body: await bundlePage() },
  };
  await using world = await openWorld({
    store: sqlite(file),
    models: { main: modelFor(model, baseUrl) },
    agents: [waiter],
    secrets: async (name) => process.env[name] ?? '',
  });
  const server = await startChatServer({ world, agent: waiter, files, port: Number(port) });
  console.log(`chat at ${server.url}  (Ctrl-C stops it; conversations are in ${file})`);
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  await server.close();
  return 0;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '4400' },
      world: { type: 'string', default: 'chat.db' },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65_535)
    throw new TypeError(`--port is no port: ${values.port}`);
  return values;
}

function modelFor(name: string | undefined, baseUrl: string | undefined): ModelClient {
  if (name === undefined) return embeddedModel();
  const key = process.env.OPENAI_API_KEY;
  if (baseUrl === undefined && key === undefined) throw new TypeError('--model wants --base-url, or OPENAI_API_KEY');
  return openAiCompatible({
    baseUrl: baseUrl ?? 'https://api.openai.com/v1',
    model: name,
    ...(key === undefined ? {} : { apiKey: { secret: 'OPENAI_API_KEY' } }),
  });
}

process.exitCode = await main().catch((error: unknown) => {
  const isUse = error instanceof TypeError;
  console.error(isUse ? `${error.message}\n\n${USAGE}` : isRepriseError(error) ? error.message : error);
  return isUse ? 2 : 1;
});
