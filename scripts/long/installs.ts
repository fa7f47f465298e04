/**
 * The package as `npm run release -- --dry` leaves it in `release/`, installed by every installer, run by every runtime
 * and bundled by every bundler that we promise:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/installs.ts [--only npm-install]
 *
 * Each mounts sessions over HTTP in its own server, too. One line for each, with what was printed where something else should
 * have been. Needs the registry.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { type Make, runtimeOf, thisNode } from '../runtimes/runtimes.js';

const run = promisify(execFile);
const RELEASE = path.resolve(import.meta.dirname, '../../release');
const MINUTES_MS = 10 * 60_000;

const PROGRAM = `import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { script } from 'reprise/providers';
import * as z from 'zod';

export async function answer() {
  const add = defineTool({
    name: 'add',
    description: 'Adds two numbers.',
    args: z.strictObject({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => a + b,
  });
  const clerk = defineAgent({ name: 'clerk', model: 'main', instructions: 'Calculate.', tools: [add] });
  const main = script({ calls: [{ tool: 'add', args: { a: 2, b: 3 } }] }, { text: 'That makes 5.' });
  const world = await openWorld({ store: memory(), models: { main }, agents: [clerk] });
  const run = await world.session('me', clerk).send('What is 2 + 3?');
  const text = await run.text();
  const { replayed } = await world.verify();
  await world.close();
  return text + ' ' + replayed + ' frames replayed';
}
`;
const MAIN = `import { answer } from './answer.js';
import { spoken } from './served.js';
console.log(await answer(), await spoken());
`;
const EXPECTED = 'That makes 5. 6 frames replayed and over HTTP: Hello to you.';

/** What a bundler makes one file of: the server's optional package stays outside, as `pg` and others do. */
const BUNDLED = `import { answer } from './answer.js';\nconsole.log(await answer(), 'and over HTTP: Hello to you.');\n`;

/** Sessions over HTTP, mounted in the server that the runtime has, and a client that follows a run of one. */
const SERVED = `import { defineAgent, memory, openWorld } from 'reprise';
import { connect } from 'reprise/client';
import { script } from 'reprise/providers';
import { httpHandler } from 'reprise/server';

export async function handler() {
  const talker = defineAgent({ name: 'talker', model: 'main', instructions: 'Talk.' });
  const world = await openWorld({ store: memory(), models: { main: script({ text: 'Hello to you.' }) }, agents: [talker] });
  const auth = ({ header }) => (header('authorization') === 'Bearer t' ? 'human:me' : undefined);
  return httpHandler(world, { auth, mcp: false, sessions: true, base: '/agents' });
}

/** Serves with what the runtime has, at a free port. */
async function listen(fetch) {
  if (globalThis.Bun) {
    const server = globalThis.Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => fetch(request) });
    return { port: server.port, close: () => server.stop(true) };
  }
  if (globalThis.Deno) {
    const server = globalThis.Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: () => undefined }, (request) => fetch(request));
    return { port: server.addr.port, close: () => server.shutdown() };
  }
  const { createServer } = await import('node:http');
  const { Readable } = await import('node:stream');
  const server = createServer(async (request, response) => {
    const left = new AbortController();
    response.once('close', () => left.abort());
    const { method, headers, url } = request;
    const body = method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' } : {};
    const answer = await fetch(new Request('http://' + headers.host + url, { method, headers, signal: left.signal, ...body }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const piece of answer.body ?? []) response.write(piece);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: server.address().port, close: () => server.close().closeAllConnections() };
}

export async function follow(url) {
  const session = connect(url + '/agents', { token: 't' }).session('me/first');
  const { run } = await session.send({ id: 'm1', text: 'Hello', agent: 'talker' });
  let last = '';
  for await (const told of session.follow(run)) if (told.event?.text !== undefined) last = told.event.text;
  return 'and over HTTP: ' + last;
}

export async function spoken() {
  const { fetch, close } = await handler();
  const server = await listen(fetch);
  const said = await follow('http://127.0.0.1:' + server.port);
  await close();
  await server.close();
  return said;
}
`;

/** Built files of our libraries may call `require`, which a module of Node does not have. */
const BANNER = [
  `--banner:js=import { createRequire as bundled } from 'node:module'; const require = bundled(import.meta.url);`,
];

const { values: options } = parseArgs({ options: { only: { type: 'string' } } });
const tarball = await packed();
const scratch = await mkdtemp(path.join(os.tmpdir(), 'reprise-installs-'));
let failures = 0;
try {
  await installers();
  await runtimes();
  await bundlers();
} finally {
  await rm(scratch, { recursive: true, force: true });
}
console.log(failures === 0 ? 'ok' : `${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

async function packed(): Promise<string> {
  const name = (await readdir(RELEASE).catch(() => [])).find((file) => file.endsWith('.tgz'));
  if (name === undefined) throw new Error('release/ has no tarball: run `npm run release -- --dry` first');
  return path.join(RELEASE, name);
}

/** npm, pnpm, yarn 1, and yarn 4, which installs no `node_modules` of its own accord. */
async function installers(): Promise<void> {
  await row('npm-install', async (app) => {
    await npm(app);
    return printed('node', ['main.js'], app);
  });
  await row('pnpm-install', async (app) => {
    const pnpm = await tool('pnpm@10', 'pnpm/bin/pnpm.cjs');
    await printed('node', [pnpm, 'add', tarball, 'zod'], app);
    return printed('node', ['main.js'], app);
  });
  await row('yarn-1-install', async (app) => {
    const yarn = await tool('yarn@1', 'yarn/bin/yarn.js');
    await printed('node', [yarn, 'add', `file:${tarball}`, 'zod'], app);
    return printed('node', ['main.js'], app);
  });
  await row('yarn-4-install', async (app) => {
    const yarn = await tool('@yarnpkg/cli-dist@4', '@yarnpkg/cli-dist/bin/yarn.js');
    await writeFile(path.join(app, 'yarn.lock'), '');
    await printed('node', [yarn, 'add', `reprise@file:${tarball}`, 'zod'], app);
    return printed('node', [yarn, 'node', 'main.js'], app);
  });
}

async function runtimes(): Promise<void> {
  const all: readonly (readonly [Make, string])[] = [
    ['node', '20.19.0'],
    ['node', '22'],
    ['node', '24'],
    ['bun', '1.4.5'],
    ['deno', '2.9.6'],
  ];
  for (const [make, release] of all)
    await row(`${make}-${release}`, async (app) => {
      const { command, args } = await runtimeOf(make, release, scratch);
      await npm(app);
      return printed(command, [...args, 'main.js'], app);
    });
}

async function bundlers(): Promise<void> {
  await row('esbuild', async (app) => {
    await bundled(app, 'esbuild');
    await bin(app, 'esbuild', [
      'main.js',
      '--bundle',
      '--platform=node',
      '--format=esm',
      '--outfile=out/main.mjs',
      ...BANNER,
    ]);
    return printed('node', ['out/main.mjs'], app);
  });
  await row('vite', async (app) => {
    await bundled(app, 'vite');
    await writeFile(path.join(app, 'vite.config.js'), `export default { ssr: { noExternal: true } };\n`);
    await bin(app, 'vite', ['build', '--ssr', 'main.js', '--outDir', 'out']);
    return printed('node', ['out/main.js'], app);
  });
  await row('webpack', async (app) => {
    await bundled(app, 'webpack', 'webpack-cli');
    const config = `export default { mode: 'production', target: 'node20', entry: './main.js', experiments: { outputModule: true },
  output: { path: import.meta.dirname + '/out', filename: 'main.mjs', module: true } };\n`;
    await writeFile(path.join(app, 'webpack.config.js'), config.replace('import.meta.dirname', JSON.stringify(app)));
    await bin(app, 'webpack', []);
    return printed('node', ['out/main.mjs'], app);
  });
  await row('next', async (app) => {
    await npm(app, 'next', 'react', 'react-dom');
    // The package stays outside of Next's bundle: the world is open in the process, and optional packages may be absent.
    await writeFile(path.join(app, 'next.config.mjs'), `export default { serverExternalPackages: ['reprise'] };\n`);
    await mkdir(path.join(app, 'app/answer'), { recursive: true });
    const route = `import { answer } from '../../answer.js';
export const dynamic = 'force-dynamic';
export const GET = async () => new Response(await answer());\n`;
    await writeFile(path.join(app, 'app/answer/route.js'), route);
    await mkdir(path.join(app, 'app/agents/[...path]'), { recursive: true });
    const mounted = `import { handler } from '../../../served.js';
export const dynamic = 'force-dynamic';
let made;
const answer = async (request) => (await (made ??= handler())).fetch(request);
export { answer as GET, answer as POST };\n`;
    await writeFile(path.join(app, 'app/agents/[...path]/route.js'), mounted);
    const asks = `import { follow } from './served.js';\nconsole.log(await follow(process.argv[2]));\n`;
    await writeFile(path.join(app, 'asks.js'), asks);
    const layout = `export default ({ children }) => <html><body>{children}</body></html>;\n`;
    await writeFile(path.join(app, 'app/layout.jsx'), layout);
    await bin(app, 'next', ['build']);
    return fetched(app);
  });
}

/** Tries one way in an empty project. */
async function row(name: string, attempt: (app: string) => Promise<string>): Promise<void> {
  if (options.only !== undefined && options.only !== name) return;
  const app = path.join(scratch, `app-${name}`);
  await mkdir(app);
  await writeFile(path.join(app, 'package.json'), '{ "name": "app", "private": true, "type": "module" }\n');
  await writeFile(path.join(app, 'answer.js'), PROGRAM);
  await writeFile(path.join(app, 'served.js'), SERVED);
  await writeFile(path.join(app, 'main.js'), MAIN);
  const started = performance.now();
  const output = await attempt(app).catch((error: unknown) => String((error as { stderr?: unknown }).stderr || error));
  const isRight = output.trim().split('\n').at(-1) === EXPECTED;
  if (!isRight) failures++;
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(
    `${name.padEnd(16)} ${isRight ? 'works' : 'FAILS'} ${seconds} s${isRight ? '' : `\n${output.slice(-2_000)}`}`,
  );
}

async function npm(app: string, ...more: readonly string[]): Promise<void> {
  await printed('npm', ['install', '--no-audit', '--no-fund', tarball, 'zod', ...more], app);
}

/** Installs a bundler too, whose program does not serve. */
async function bundled(app: string, ...bundler: readonly string[]): Promise<void> {
  await writeFile(path.join(app, 'main.js'), BUNDLED);
  await npm(app, ...bundler);
}

/** The program of an installer, from the registry. */
async function tool(name: string, file: string): Promise<string> {
  const prefix = path.join(scratch, `tool-${name.replace(/\W/g, '-')}`);
  await mkdir(prefix, { recursive: true });
  await run('npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--ignore-scripts', name]);
  return path.join(prefix, 'node_modules', file);
}

function bin(app: string, name: string, args: readonly string[]): Promise<string> {
  return printed(path.join(app, 'node_modules/.bin', name), args, app);
}

async function printed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const name = command === 'node' ? (await thisNode()).command : command;
  const { stdout } = await run(name, args, { cwd, timeout: MINUTES_MS, maxBuffer: 1 << 26 });
  return stdout;
}

/** What a built Next app answers. */
async function fetched(app: string): Promise<string> {
  const port = await freePort();
  const server = spawn(path.join(app, 'node_modules/.bin/next'), ['start', '-p', String(port)], {
    cwd: app,
    stdio: 'ignore',
  });
  try {
    for (let tries = 0; ; tries++) {
      const answer = await fetch(`http://127.0.0.1:${port}/answer`).catch((error: unknown) => {
        if (tries === 60) throw error;
      });
      if (answer !== undefined)
        return `${await answer.text()} ${await printed('node', ['asks.js', `http://127.0.0.1:${port}`], app)}`;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  } finally {
    server.kill('SIGKILL');
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
