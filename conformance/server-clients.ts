/**
 * Clients that this project did not write, on `reprise serve`: the command line of the MCP inspector on standard input and
 * over HTTP, and the protocol's earlier SDK.
 *
 *   npx tsx --conditions=@reprise/source conformance/server-clients.ts [--in FOLDER]
 *
 * They need a newer Node than this project: all are installed from the package registry into a folder, once.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { verifyStore } from 'reprise/kernel';
import { appOf } from 'reprise/org';
import { sqlite } from 'reprise/sqlite';
import { installed, NEWER_NODE } from './registry.js';
import { notes } from './server-notes.js';

const PACKAGES = [NEWER_NODE, '@modelcontextprotocol/inspector@2.12.0', '@modelcontextprotocol/sdk@1.32.2'];
const NOTES = fileURLToPath(new URL('server-notes.ts', import.meta.url));
const CLI = fileURLToPath(new URL('../packages/cli/src/bin.ts', import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

const { values: options } = parseArgs({
  options: { in: { type: 'string', default: path.join(tmpdir(), 'reprise-mcp-clients') } },
});
installed(options.in, PACKAGES);
const folder = mkdtempSync(path.join(tmpdir(), 'server-clients-'));
const file = path.join(folder, 'w.db');
const command = [process.execPath, '--conditions=@reprise/source', '--import', TSX, CLI, 'serve', file, '--mcp'];
const served = [...command, '--app', NOTES, '--as', 'human:ann'];

// On standard input.
const { tools } = await inspect(served, '--method', 'tools/list');
hold(
  JSON.stringify(tools) === JSON.stringify(listedOf(notes)),
  'the tools are listed with the schemas of the part',
  tools,
);
const add = (id: string) => [
  '--method',
  'tools/call',
  '--tool-name',
  'note_add',
  '--tool-arg',
  'text=hello',
  `command_id=${id}`,
];
const [first, again, other] = [
  await inspect(served, ...add('c1')),
  await inspect(served, ...add('c1')),
  await inspect(served, ...add('c2')),
];
hold(
  first.structuredContent?.number === 1 && again.structuredContent?.number === 1,
  'one command is one act, also in two processes',
  [first, again],
);
hold(other.structuredContent?.number === 2, 'another command is another act', other);
const read = await inspect(served, '--method', 'resources/read', '--uri', 'notes://all');
hold(read.contents?.[0]?.text === 'hello\nhello', 'a resource is read', read);

// Over HTTP, with a token.
const serving = spawn(command[0] ?? '', [...command.slice(1), '--app', NOTES, '--as', 'human:ann', '--http', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [url = '', place = ''] = await outputOf(serving, /^(http\S+)\n.*: (\/.*\.mcp-token)$/m);
const token = readFileSync(place, 'utf8').trim();
hold((statSync(place).mode & 0o777) === 0o600, 'only this user reads the token');
const over = [url, '--transport', 'http'];
const headers = (bearer: string) => ['--header', `Authorization: Bearer ${bearer}`];
const listed = await inspect(over, '--method', 'tools/list', ...headers(token));
hold(JSON.stringify(listed.tools) === JSON.stringify(tools), 'the tools are the same over HTTP', listed);
const third = await inspect(over, ...add('c3'), ...headers(token));
hold(third.structuredContent?.number === 3, 'a call is executed over HTTP', third);
const forged = await inspect(over, '--method', 'tools/list', ...headers(`${token.slice(0, -4)}AAAA`));
hold(forged.tools === undefined, 'a forged token is refused', forged);

// The protocol's earlier SDK.
const sdk = path.join(options.in, 'node_modules/@modelcontextprotocol/sdk/dist/esm/client');
const { Client } = await import(path.join(sdk, 'index.js'));
const { StreamableHTTPClientTransport } = await import(path.join(sdk, 'streamableHttp.js'));
const client = new Client({ name: 'earlier', version: '1' });
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }),
);
const numbers = new Set<string>();
for (let i = 0; i < 20; i++) {
  const call = { name: 'note_add', arguments: { text: 'once', command_id: 'thousand' } };
  const sent = Array.from({ length: 50 }, () => client.callTool(call));
  for (const { structuredContent } of await Promise.all(sent)) numbers.add(JSON.stringify(structuredContent));
}
hold([...numbers].join() === '{"number":4}', 'a command that is sent 1,000 times is one act', [...numbers]);
await client.close();

serving.kill('SIGTERM');
const code = await new Promise((resolve) => serving.once('exit', resolve));
hold(code === 0 && !existsSync(place), 'the server ends, and its token with it', code);
const bytes = readFileSync(file).toString('latin1');
hold(!bytes.includes(token) && !bytes.includes(token.split('.')[2] ?? ''), 'no token stands in the world');
const reader = await sqlite(file).openReadonly();
hold((await verifyStore(reader, { app: appOf(notes.parts) })).unverified === 0, 'everything replays');
await reader.close();
console.log(
  'clients: the inspector on standard input and over HTTP, the SDK 1.32.2; 1,000 sends of one command: one act; a forged token: refused; verified',
);

interface Inspected {
  readonly tools?: unknown;
  readonly structuredContent?: { readonly number?: number };
  readonly contents?: readonly { readonly text?: string }[];
}

/** What the inspector prints. */
function inspect(target: readonly string[], ...args: readonly string[]): Promise<Inspected> {
  const bin = path.join(options.in, 'node_modules/.bin');
  const given = [path.join(bin, 'mcp-inspector'), '--cli', ...target, ...args];
  const env = { ...process.env, MCP_INSPECTOR_SECRET_STORE: 'memory' };
  return new Promise((resolve) => {
    execFile(path.join(bin, 'node'), given, { encoding: 'utf8', env }, (_error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        resolve({ said: stdout + stderr } as Inspected);
      }
    });
  });
}

function outputOf(child: ChildProcess, pattern: RegExp): Promise<readonly string[]> {
  let seen = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the server ended: ${seen}`)));
    child.stdout?.on('data', (bytes) => {
      seen += String(bytes);
      const found = pattern.exec(seen);
      if (found !== null) resolve(found.slice(1));
    });
  });
}

function listedOf({ parts }: typeof notes): readonly object[] {
  return parts
    .flatMap(({ served }) => served?.tools ?? [])
    .map(({ name, description, inputSchema, outputSchema }) => ({
      name,
      description,
      inputSchema,
      outputSchema,
    }));
}

function hold(holds: boolean, what: string, actual?: unknown): void {
  if (!holds) throw new Error(`${what}: it is not so; ${JSON.stringify(actual)}`);
}
