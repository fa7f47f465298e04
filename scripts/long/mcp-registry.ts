/**
 * MCP servers as people publish them: each is installed from the registry that npm is set up with, into a folder of its
 * own without scripts, and asked for its tools twice, by a few lines of JSON and by a toolset:
 *
 *   npx tsx --conditions=@reprise/source scripts/long/mcp-registry.ts [--only NAME] [--keep FOLDER]
 *
 * A server that does not start here, for want of a key or a browser, is counted apart. Ends with 1 when a toolset lacks a
 * tool of a raw list without a reason, or when fewer than 18 servers could be compared.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs, promisify } from 'node:util';
import type { ToolEntry } from '@reprise/agent';
import { memory } from '@reprise/kernel';
import { mcp } from '../../packages/tools/src/mcp/index.js';

/** Published servers, with the arguments that they need. */
const SERVERS: readonly (readonly [string, ...string[]])[] = [
  ['@modelcontextprotocol/server-everything'],
  ['@modelcontextprotocol/server-filesystem', '.'],
  ['@modelcontextprotocol/server-memory'],
  ['@modelcontextprotocol/server-sequential-thinking'],
  ['@agent-infra/mcp-server-commands'],
  ['@agent-infra/mcp-server-filesystem', '--allowed-directories', '.'],
  ['@agent-infra/mcp-server-browser'],
  ['@anaisbetts/mcp-installer'],
  ['@antv/mcp-server-chart'],
  ['@aashari/boilerplate-mcp-server'],
  ['@aashari/mcp-server-atlassian-jira'],
  ['@chakra-ui/react-mcp'],
  ['@ark-ui/mcp'],
  ['@brave/brave-search-mcp-server'],
  ['@benborla29/mcp-server-mysql'],
  ['@cablate/mcp-google-map', '--stdio'],
  ['@browsermcp/mcp'],
  ['@adenot/mcp-google-search'],
  ['@abhaybabbar/retellai-mcp-server'],
  ['@allpepper/memory-bank-mcp'],
  ['@accesslint/mcp'],
  ['@angiejones/mcp-selenium'],
  ['@chatwork/mcp-server'],
  ['@amap/amap-maps-mcp-server'],
  ['@brightdata/mcp'],
  ['@adobe/spectrum-design-data-mcp'],
  ['@awesome-ai/elasticsearch-mcp'],
  ['@atlassian-dc-mcp/jira'],
  ['@bilims/mcp-sqlserver'],
  ['@ahdev/dokploy-mcp'],
];
const WANTED = 18;

/** Keys that servers ask for before they say which tools they have; none of them opens anything. */
const KEYS = Object.fromEntries(
  'BRAVE_API_KEY GOOGLE_API_KEY GOOGLE_MAPS_API_KEY GOOGLE_SEARCH_ENGINE_ID RETELL_API_KEY CHATWORK_API_TOKEN AMAP_MAPS_API_KEY API_TOKEN JIRA_API_TOKEN DOKPLOY_API_KEY DOKPLOY_AUTH_TOKEN'
    .split(' ')
    .map((name) => [name, 'none']),
);
const ADDRESSES = {
  MEMORY_BANK_ROOT: '.',
  DOKPLOY_URL: 'http://127.0.0.1:9',
  JIRA_HOST: '127.0.0.1',
  ELASTICSEARCH_HOST: 'http://127.0.0.1:9',
  SQLSERVER_HOST: '127.0.0.1',
  SQLSERVER_USER: 'none',
  SQLSERVER_PASSWORD: 'none',
};

const { values } = parseArgs({ options: { only: { type: 'string' }, keep: { type: 'string' } } });
const base = values.keep ?? mkdtempSync(path.join(tmpdir(), 'mcp-registry-'));
const run = promisify(execFile);
const env = { ...KEYS, ...ADDRESSES };

/** Installs a package; returns the file of its program. */
async function installed(name: string): Promise<string> {
  const folder = path.join(base, name.replace(/[^a-z0-9-]/g, '_'));
  const home = path.join(folder, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  if (!existsSync(home)) {
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--prefix', folder];
    await run('npm', ['install', ...flags, name], { timeout: 240_000 });
  }
  const { bin } = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')) as {
    bin?: string | Record<string, string>;
  };
  const file = typeof bin === 'string' ? bin : Object.values(bin ?? {})[0];
  if (file === undefined) throw new Error('it has no program');
  return path.join(home, file);
}

/** The tools of a server as the raw list has them, without any library. */
function rawTools(command: readonly string[]): Promise<readonly { name: string; inputSchema?: unknown }[]> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: base, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  const tools: { name: string }[] = [];
  return new Promise<typeof tools>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('it does not answer')), 40_000);
    const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    child.on('error', reject).on('exit', (code) => reject(new Error(`it ended with ${code}`)));
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { id, result } = parsed(line);
      if (id === 1) {
        send({ method: 'notifications/initialized' });
        send({ id: 2, method: 'tools/list', params: {} });
      } else if (id === 2) {
        tools.push(...(result?.tools ?? []));
        if (typeof result?.nextCursor === 'string')
          send({ id: 2, method: 'tools/list', params: { cursor: result.nextCursor } });
        else resolve(tools);
      }
      clearTimeout(id === 2 ? timer : undefined);
    });
    const clientInfo = { name: 'raw', version: '1' };
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
  }).finally(() => child.kill('SIGKILL'));
}

interface Line {
  readonly id?: unknown;
  readonly result?: { readonly tools?: { name: string }[]; readonly nextCursor?: unknown };
}

function parsed(line: string): Line {
  try {
    return JSON.parse(line) as Line;
  } catch {
    return {};
  }
}

/** The tools of a server as a toolset offers them, and those that it leaves out with a reason. */
async function offeredTools(command: readonly [string, ...string[]]) {
  const closing = new AbortController();
  const { content } = await memory().open();
  const live = mcp('s', { command, env, cwd: base }, { connectTimeout: '60s' }).open({ closing: closing.signal });
  const context = { session: { key: 's', labels: {} }, content, signal: closing.signal, secret: async () => '' };
  try {
    const entries: readonly ToolEntry[] = await live.list(context);
    return { entries, leftOut: live.leftOut?.() ?? [] };
  } finally {
    closing.abort();
  }
}

let compared = 0;
let sum = 0;
const faults: string[] = [];
for (const [name, ...args] of SERVERS) {
  if (values.only !== undefined && values.only !== name) continue;
  try {
    const command = [process.execPath, await installed(name), ...args] as const;
    const raw = await rawTools(command);
    const { entries, leftOut } = await offeredTools([...command]);
    compared += 1;
    sum += raw.length;
    const named = new Set([...entries.map(({ origin }) => origin?.tool), ...leftOut.map(({ tool }) => tool)]);
    const missing = raw.filter((tool) => !named.has(tool.name)).map((tool) => tool.name);
    const reasons = leftOut.map(({ tool, why }) => `${tool}: ${why}`);
    console.log(
      `${name}: ${entries.length} of ${raw.length} tools${reasons.length > 0 ? `; left out ${reasons.join('; ')}` : ''}`,
    );
    if (missing.length > 0) faults.push(`${name} lacks ${missing.join(', ')}`);
  } catch (error) {
    console.log(`${name}: not compared, ${String((error as Error).message).split('\n')[0]}`);
  }
}
if (values.keep === undefined) rmSync(base, { recursive: true, force: true });
console.log(`${compared} servers compared, ${sum} tools, ${faults.length} with tools missing without a reason`);
for (const fault of faults) console.log(fault);
process.exit(faults.length > 0 || (values.only === undefined && compared < WANTED) ? 1 : 0);
