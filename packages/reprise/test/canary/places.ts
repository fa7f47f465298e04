/** Every place where an app may put a secret, and a way in which the outside hands it back. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { aiSdk, anthropicMessages, openAiCompatible, openAiResponses, relay } from '../../../providers/src/index.js';
import { externalAgent } from '../../../tools/src/external/index.js';
import { http, processes } from '../../../tools/src/index.js';
import { mcp, type StdioServer } from '../../../tools/src/mcp/index.js';
import { defineTool, toolError } from '../../src/index.js';
import { toolParts } from '../../src/tools.js';
import type { Place, Scene } from './watch.js';

const here = path.dirname(fileURLToPath(import.meta.url));

interface Asked {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

type Answer = (asked: Asked, response: ServerResponse) => void;

async function listening(server: Server): Promise<{ readonly port: number; readonly close: () => void }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}

function web(answer: Answer) {
  return listening(
    createServer((request, response) => {
      request.resume();
      request.on('end', () => answer({ url: request.url ?? '', headers: request.headers }, response));
    }),
  );
}

const sends = (status: number, type: string, body: string) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': type });
  response.end(body);
};
const json = (status: number, body: unknown) =>
  sends(status, 'application/json', typeof body === 'string' ? body : JSON.stringify(body));
const everyUnit = (text: string) =>
  [...text].map((unit) => `\\u${(unit.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`).join('');
const completion = (message: object) => ({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message, finish_reason: 'stop' }],
});
const said = (text: string) => completion({ role: 'assistant', content: text });

/** A chat-completions model at a server that answers like this. */
function chat(options: (secret: string) => object, answer: Answer, query = ''): Place['make'] {
  return async (secret) => {
    const { port, close } = await web(answer);
    const baseUrl = `http://127.0.0.1:${port}/v1${query.replace('SECRET', encodeURIComponent(secret))}`;
    const retry = { retriesMax: 0 };
    const model = openAiCompatible({ baseUrl, model: 'm', retry, ...options(secret) });
    return { model, close, world: { secrets: async () => secret } };
  };
}

const header = ({ headers }: Asked, name = 'authorization') => String(headers[name] ?? '');
const asKey = (secret: string) => ({ apiKey: secret });
const asNamed = () => ({ apiKey: { secret: 'KEY' } });

const streamed: Answer = (asked, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const event = (choice: object) =>
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`);
  for (const letter of `I was called with ${header(asked)}.`) event({ delta: { content: letter } });
  for (const letter of `and thought ${header(asked)}`) event({ delta: { reasoning_content: letter } });
  event({ delta: {}, finish_reason: 'stop' });
  response.end('data: [DONE]\n\n');
};

const calling: Answer = (asked, response) => {
  const args = `{"\\u006bey":"${everyUnit(header(asked))}","slash":"${header(asked).replaceAll('/', '\\/')}"}`;
  const call = { id: 'c1', type: 'function', function: { name: 'nothing', arguments: args } };
  json(200, completion({ role: 'assistant', content: null, tool_calls: [call] }))(response);
};

const MODELS: Readonly<Record<string, Place['make']>> = {
  'a key, in a streamed answer': chat(asKey, streamed),
  'a named secret, in a whole answer': chat(asNamed, (asked, to) => json(200, said(header(asked)))(to)),
  'a key, in the arguments of a call': chat(asKey, calling),
  'a key, in an error': chat(asKey, (asked, to) =>
    json(401, { error: { message: `Incorrect API key: ${header(asked)}` } })(to),
  ),
  'a key, in a page of HTML': chat(asKey, (asked, to) =>
    sends(404, 'text/html', `<p>${header(asked).replaceAll('/', '&#x2F;')}</p>`)(to),
  ),
  'a key, in what is no answer': chat(asKey, (asked, to) => json(200, JSON.stringify({ you: header(asked) }))(to)),
  'a key, in a broken stream': chat(asKey, (asked, to) => {
    to.writeHead(200, { 'content-type': 'text/event-stream' });
    to.write(`data: {"choices":[{"delta":{"content":"${header(asked)}"}}]}\n\n`);
    setTimeout(() => to.destroy(), 20);
  }),
  'a key that cannot stand in a header': async (secret) => ({
    ...(await chat(asNamed, (_asked, to) => json(200, said('x'))(to))(secret)),
    world: { secrets: async () => `${secret}\nx` },
  }),
  'a header given as text, in lower case': chat(
    (secret) => ({ headers: { 'x-gateway': secret } }),
    (asked, to) => json(403, { error: { message: header(asked, 'x-gateway').toLowerCase() } })(to),
  ),
  'a header given by name, in an error': chat(
    () => ({ headers: { 'x-gateway': { secret: 'KEY' } } }),
    (asked, to) => json(500, { error: { message: JSON.stringify({ at: header(asked, 'x-gateway') }) } })(to),
  ),
  'a password in a Basic header, decoded': chat(
    (secret) => ({ headers: { authorization: `Basic ${Buffer.from(`ann:${secret}`).toString('base64')}` } }),
    (asked, to) => json(401, { error: { message: Buffer.from(header(asked).slice(6), 'base64').toString() } })(to),
  ),
  'a key in the query of an address': chat(
    () => ({}),
    ({ url }, to) => json(404, { error: { message: `no ${url}` } })(to),
    '?api_key=SECRET',
  ),
  'a key in the query of an address where nobody answers': (secret) => ({
    model: openAiCompatible({
      baseUrl: `http://127.0.0.1:1/v1?key=${encodeURIComponent(secret)}`,
      model: 'm',
      retry: { retriesMax: 0 },
      fetch: (url) => {
        throw new TypeError(`fetch of ${String(url)} failed`);
      },
    }),
  }),
  'a key of the Anthropic client': async (secret) => {
    const { port, close } = await web((asked, to) =>
      json(401, { type: 'error', error: { type: 'authentication_error', message: header(asked, 'x-api-key') } })(to),
    );
    return {
      model: anthropicMessages('m', { baseUrl: `http://127.0.0.1:${port}`, apiKey: secret, retry: { retriesMax: 0 } }),
      close,
    };
  },
  'a key of the Responses client': async (secret) => {
    const { port, close } = await web((asked, to) => json(401, { error: { message: header(asked) } })(to));
    return {
      model: openAiResponses('m', { baseUrl: `http://127.0.0.1:${port}`, apiKey: secret, retry: { retriesMax: 0 } }),
      close,
    };
  },
  'a key of a model of the AI SDK': (secret) => {
    const fails = async () => {
      throw Object.assign(new Error(`401 for ${secret}`), { requestBodyValues: { key: secret }, statusCode: 401 });
    };
    const config = { headers: () => ({ Authorization: `Bearer ${secret}` }) };
    return {
      model: aiSdk({
        specificationVersion: 'v3',
        provider: 'p',
        modelId: 'm',
        config,
        doGenerate: fails,
        doStream: fails,
      } as never),
    };
  },
};

const echoServer = (mode: string, env: object, args: readonly string[] = []): StdioServer => ({
  command: [process.execPath, path.join(here, 'echo-server.mjs'), ...args],
  env: { CANARY_MODE: mode, ...env },
});

function program(
  mode: string,
  server: (secret: string) => StdioServer = (CANARY) => echoServer(mode, { CANARY }),
): Place['make'] {
  return (secret) => ({
    agent: { toolsets: [mcp('echo', server(secret), { approval: 'never', trust: true })] },
    calls: [{ tool: 'echo__echo', args: {} }],
    world: { secrets: async () => secret },
  });
}

type ToServer = (secret: string, port: number) => Parameters<typeof mcp>[1];

/** An MCP server over HTTP that tells in which headers it was called. */
function remote(server: ToServer, refuses = false): Place['make'] {
  return async (secret) => {
    const { port, close } = await listening(
      createServer(async (request, response) => {
        const told = `${request.headers.authorization ?? ''} ${request.headers['x-key'] ?? ''} ${request.url}`;
        const basic = /Basic (\S+)/.exec(told)?.[1] ?? '';
        const all = `${told} ${Buffer.from(basic, 'base64').toString()}`;
        if (refuses) return json(403, { error: `not with ${all}` })(response);
        const handler = createMcpHandler(() => {
          const made = new McpServer({ name: 'far', version: '1' });
          made.registerTool('echo', { description: 'Echoes.' }, async () => ({
            content: [{ type: 'text', text: all }],
          }));
          return made;
        });
        const parts: Uint8Array[] = [];
        for await (const part of request) parts.push(part as Uint8Array);
        const method = request.method ?? 'GET';
        const init = {
          method,
          headers: request.headers as never,
          ...(method === 'GET' ? {} : { body: Buffer.concat(parts) }),
        };
        const answer = await handler.fetch(new Request(`http://127.0.0.1${request.url}`, init));
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.flushHeaders(); // a stream of notifications has no end, and its client waits for its beginning
        for await (const part of answer.body ?? []) response.write(part);
        response.end();
      }),
    );
    return {
      agent: { toolsets: [mcp('far', server(secret, port), { approval: 'never', trust: true })] },
      calls: [{ tool: 'far__echo', args: {} }],
      world: { secrets: async () => secret },
      close,
    };
  };
}

const at = (port: number, more = '/mcp') => `http://127.0.0.1:${port}${more}`;

const SERVERS: Readonly<Record<string, Place['make']>> = {
  'a variable of an MCP program, in a result': program('answers'),
  'a variable of an MCP program, in an error': program('fails'),
  'a variable of an MCP program, in a description': program('describes'),
  'a variable of an MCP program, in its progress': program('progress'),
  'a variable of an MCP program, in its last words': program('exits'),
  'a variable of an MCP program that dies at its start': program('dies'),
  'a named secret in a variable of an MCP program': program('answers', () => ({
    ...echoServer('answers', {}),
    env: async ({ secret }) => ({ CANARY: await secret('KEY') }),
  })),
  'an argument of an MCP program': program('answers', (secret) => echoServer('answers', {}, ['--token', secret])),
  'an argument of an MCP program, joined': program('fails', (secret) =>
    echoServer('fails', {}, [`--api-key=${secret}`]),
  ),
  'a header of an MCP server': remote((secret, port) => ({ url: at(port), headers: { 'x-key': secret } })),
  'a header of an MCP server, in its refusal': remote(
    (secret, port) => ({ url: at(port), headers: { authorization: `Bearer ${secret}` } }),
    true,
  ),
  'a named secret in a header of an MCP server': remote((_secret, port) => ({
    url: at(port),
    headers: async ({ secret }) => ({ authorization: `Bearer ${await secret('KEY')}` }),
  })),
  'a token of an MCP server': remote((secret, port) => ({ url: at(port), auth: { token: async () => secret } })),
  'a user in the address of an MCP server': remote((secret, port) => ({
    url: `http://ann:${encodeURIComponent(secret)}@127.0.0.1:${port}/mcp`,
  })),
  'a user in the address of an MCP server, refused': remote(
    (secret, port) => ({ url: `http://ann:${encodeURIComponent(secret)}@127.0.0.1:${port}/mcp` }),
    true,
  ),
  'a key in the query of an MCP server': remote((secret, port) => ({
    url: at(port, `/mcp?token=${encodeURIComponent(secret)}`),
  })),
};

/** The tool `http_get` at a server that answers like this. */
function getting(answer: Answer): Place['make'] {
  return async (secret) => {
    const { port, close } = await web(answer);
    const host = `127.0.0.1:${port}`;
    const tools = http({
      allow: [host],
      allowPrivate: [host],
      headers: () => ({ 'X-Key': secret, authorization: `Bearer ${secret}` }),
    });
    return { agent: { tools }, calls: [{ tool: 'http_get', args: { url: `http://${host}/` } }], close };
  };
}

/** A program of the workspace that is given a variable. */
function child(code: string, tool: 'run_process' | 'start_process'): Place['make'] {
  return (secret) => {
    process.env.CANARY_TOKEN = secret;
    const tools = processes({ root: here, pass: ['CANARY_TOKEN'], approval: 'never', background: true });
    const reads = [1, 2].map(() => ({ tool: 'read_process', args: { process: 'p1', wait_seconds: 1 } }));
    const argv = [process.execPath, '-e', code];
    return { agent: { tools }, calls: [{ tool, args: { argv } }, ...(tool === 'start_process' ? reads : [])] };
  };
}

function outsider(code: string, where: 'env' | 'args'): Place['make'] {
  return (secret) => {
    const agent = externalAgent({
      name: 'bird',
      protocol: 'stdout',
      command: [process.execPath, '-e', code, '--', ...(where === 'args' ? ['--token', secret] : [])],
      ...(where === 'env' ? { env: { CANARY: secret } } : {}),
    });
    const { tools, model, instructions } = agent;
    return { model: relay(), agent: { tools, model: 'main', instructions } as never, ...(model === '' ? {} : {}) };
  };
}

const DRIPS = 'for (const c of process.env.CANARY_TOKEN) process.stdout.write(c); setTimeout(() => {}, 200)';

const TOOLS: Readonly<Record<string, Place['make']>> = {
  'a header of the HTTP tool, in a body': getting((asked, to) =>
    sends(200, 'text/plain', `${header(asked)} ${header(asked, 'x-key')}`)(to),
  ),
  'a header of the HTTP tool, in an error': getting((asked, to) => json(401, { you: header(asked).toLowerCase() })(to)),
  'a header of the HTTP tool, as JSON of escapes': getting((asked, to) =>
    json(200, `{"you":"${everyUnit(header(asked, 'x-key'))}"}`)(to),
  ),
  'a header of the HTTP tool, in a URL': getting((asked, to) =>
    sends(200, 'text/html', `/?k=${encodeURIComponent(header(asked, 'x-key'))}`)(to),
  ),
  'a header of the HTTP tool, in base64': getting((asked, to) =>
    sends(200, 'text/plain', Buffer.from(`a:${header(asked, 'x-key')}`).toString('base64'))(to),
  ),
  'a header of the HTTP tool, in a file': getting((asked, to) =>
    sends(200, 'application/octet-stream', `\0\x01${header(asked)}`)(to),
  ),
  'a header of the HTTP tool, in the middle of much': getting((asked, to) =>
    sends(200, 'text/plain', 'x'.repeat(16_300) + header(asked) + 'y'.repeat(90_000))(to),
  ),
  'a variable of a program, on its output': child('process.stdout.write(process.env.CANARY_TOKEN)', 'run_process'),
  'a variable of a program, on its errors': child(
    'process.stderr.write(process.env.CANARY_TOKEN); process.exit(2)',
    'run_process',
  ),
  'a variable of a program in the background, letter by letter': child(DRIPS, 'start_process'),
  'a variable of an outside agent, in its answer': outsider(
    'for (const c of process.env.CANARY) process.stdout.write(c)',
    'env',
  ),
  'a variable of an outside agent, in its last words': outsider(
    'process.stderr.write(process.env.CANARY); process.exit(1)',
    'env',
  ),
  'an argument of an outside agent': outsider('process.stdout.write(process.argv.join(" "))', 'args'),
};

type Run = Parameters<typeof defineTool>[0]['run'];

/** A tool of the app that requests a secret. */
function own(run: Run): Place['make'] {
  return (secret) => ({
    agent: { tools: [defineTool({ name: 'own', description: 'Mine.', args: z.strictObject({}), run })] },
    calls: [{ tool: 'own', args: {} }],
    world: { secrets: async () => secret },
  });
}

const OWN: Readonly<Record<string, Place['make']>> = {
  'a secret that a tool answers': own(async (_args, ctx) => `it is ${await ctx.secret('KEY')}`),
  'a secret that a tool answers as data': own(async (_args, ctx) => ({ it: [await ctx.secret('KEY')] })),
  'a secret that a tool answers in parts': own(async (_args, ctx) =>
    toolParts('see', { json: { it: await ctx.secret('KEY') } }),
  ),
  'a secret that a tool refuses with': own(async (_args, ctx) => toolError(`not with ${await ctx.secret('KEY')}`)),
  'a secret that a tool throws': own(async (_args, ctx) => {
    throw new Error('x'.repeat(1_980) + (await ctx.secret('KEY')), { cause: new Error(await ctx.secret('KEY')) });
  }),
  'a secret that a tool streams': own(async function* (_args: unknown, ctx: never) {
    for (const letter of await (ctx as { secret(name: string): Promise<string> }).secret('KEY')) yield letter;
    throw new Error('and fails');
  } as never),
  'a secret that a tool reports': own(async (_args, ctx) => {
    ctx.progress({ type: 'seen', key: await ctx.secret('KEY') });
    for (const text of await ctx.secret('KEY')) ctx.progress({ type: 'delta', channel: 'text', index: 0, text });
    return 'done';
  }),
  'a secret that a tool puts': own(async (_args, ctx) => {
    const key = await ctx.secret('KEY');
    await ctx.put({ path: `${key}.txt`, bytes: new TextEncoder().encode(key) });
    return 'done';
  }),
  'a secret that a tool asks about': own(async (_args, ctx) => {
    await ctx.ask({ question: `use ${await ctx.secret('KEY')}?` });
    return 'done';
  }),
  'a text that the app declares': (secret): Scene => ({
    agent: { tools: [defineTool({ name: 'own', description: 'Mine.', args: z.strictObject({}), run: () => secret })] },
    calls: [{ tool: 'own', args: {} }],
    world: { conceal: [secret] },
  }),
  'a text in the dependencies of tools that cannot be had': (secret): Scene => ({
    agent: { tools: [defineTool({ name: 'own', description: 'Mine.', args: z.strictObject({}), run: () => 'x' })] },
    calls: [{ tool: 'own', args: {} }],
    world: {
      conceal: [secret],
      deps: () => {
        throw new Error(`no database at postgres://ann:${encodeURIComponent(secret)}@db/`);
      },
    },
  }),
};

/** The places, by name. */
export const PLACES: readonly Place[] = Object.entries({ ...MODELS, ...SERVERS, ...TOOLS, ...OWN }).map(
  ([name, make]) => ({ name, make }),
);
