/**
 * The tools of a society for clients that this project did not write: the command line of the MCP inspector on
 * `reprise serve`, 1,000 sends of one call, and a server that is killed among calls.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-clients.ts [--in FOLDER]
 *
 * The inspector needs a newer Node than this project: both are installed from the package registry into a folder, once.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { installed, NEWER_NODE } from './registry.js';

const PACKAGES = [NEWER_NODE, '@modelcontextprotocol/inspector@2.12.0'];
const ROOT = path.resolve(import.meta.dirname, '..');
const REPRISE = path.join(ROOT, 'scripts/reprise.mjs');
const SCHEMAS = path.join(ROOT, 'packages/society/src/schemas');
const KILLS = 5;
const SIDES = ['inputSchema', 'outputSchema'] as const;

const { values: options } = parseArgs({
  options: { in: { type: 'string', default: path.join(tmpdir(), 'reprise-mcp-inspector') } },
});
const programAt = installed(options.in, PACKAGES);
const folder = mkdtempSync(path.join(tmpdir(), 'society-clients-'));

await inspected(path.join(folder, 'inspected.db'));
await thousand(path.join(folder, 'thousand.db'));
await killed(path.join(folder, 'killed.db'));

/** The inspector lists each tool with the schemas of its files, and registers an agent. */
async function inspected(file: string): Promise<void> {
  const listed = JSON.parse(await inspect(file, 'tools/list')) as { readonly tools: readonly Listed[] };
  const files = readdirSync(SCHEMAS).filter((name) => name.endsWith('.input.json'));
  hold(listed.tools.length === files.length, 'every tool is listed', listed.tools.length);
  // The inspector puts keywords into an order of its own; what the server sends has that of the files.
  for (const tool of listed.tools)
    for (const side of SIDES)
      hold(
        isDeepStrictEqual(tool[side], JSON.parse(schemaText(tool, side))),
        `the inspector lists the ${side} of ${tool.name}`,
      );
  const server = serve(file);
  const { result } = await server.ask('tools/list', {});
  await server.end();
  for (const tool of (result as typeof listed).tools) {
    for (const side of SIDES)
      hold(
        `${JSON.stringify(tool[side], null, 2)}\n` === schemaText(tool, side),
        `the ${side} of ${tool.name} is its file`,
      );
  }
  const given = ['tool-name=agent_register'];
  const args = [
    'parent_entity_id=ann',
    'agent_type=custom',
    'display_name=Filing',
    'capabilities={"tools":["memory_*"]}',
  ];
  const answer = JSON.parse(await inspect(file, 'tools/call', ...given, ...args)) as {
    readonly structuredContent: { readonly agent_id: string; readonly public_key: string };
  };
  const { agent_id, public_key } = answer.structuredContent;
  const digest = createHash('sha256').update(Buffer.from(public_key, 'base64')).digest('hex');
  hold(digest === agent_id, 'the id of an agent is the digest of its key', answer);
  console.log(
    `inspector: ${listed.tools.length} tools, each with the schemas of its files; registers ${agent_id.slice(0, 8)}`,
  );
}

function schemaText({ name }: Listed, side: (typeof SIDES)[number]): string {
  return readFileSync(path.join(SCHEMAS, `${name}.${side.slice(0, -'Schema'.length)}.json`), 'utf8');
}

interface Listed {
  readonly name: string;
  readonly inputSchema: unknown;
  readonly outputSchema: unknown;
}

/** One call that is sent 1,000 times is one act, whichever revision asks. */
async function thousand(file: string): Promise<void> {
  const server = serve(file);
  const call = { name: 'agent_register', arguments: { ...registration('One'), command_id: 'one' } };
  const answers: Reply[] = [];
  // The server takes 64 requests of one client at a time.
  while (answers.length < 1_000) {
    const wave = Array.from({ length: 50 }, () => server.ask('tools/call', call));
    answers.push(...(await Promise.all(wave)));
  }
  const distinct = new Set(answers.map((answer) => JSON.stringify(answer.result)));
  hold(distinct.size === 1, 'every send has the same answer', [...distinct]);
  const agents = await listAgents(server);
  hold(agents.length === 1, 'a call that is sent 1,000 times registers one agent', agents.length);
  await server.end();
  console.log('1,000 sends of one command_id: one agent, one answer');
}

/** A server is killed while calls run; sent again, each call has happened once. */
async function killed(file: string): Promise<void> {
  const names = Array.from({ length: 40 }, (_, n) => `agent ${n}`);
  const call = (name: string) => ({
    name: 'agent_register',
    arguments: { ...registration(name), command_id: name.replace(' ', '.') },
  });
  for (let kill = 1; kill <= KILLS; kill++) {
    const server = serve(file);
    await server.ask('tools/list', {});
    let answered = 0;
    for (const name of names)
      void server.ask('tools/call', call(name)).then(
        () => answered++,
        () => undefined,
      );
    while (answered < kill * 3) await server.line();
    server.kill();
    await server.ended;
  }
  const server = serve(file);
  const answers = await Promise.all(names.map((name) => server.ask('tools/call', call(name))));
  const ids = answers.map(
    ({ result }) =>
      (result as { readonly structuredContent: { readonly agent_id: string } }).structuredContent.agent_id,
  );
  const agents = await listAgents(server);
  hold(new Set(ids).size === names.length, 'each call has an agent of its own', new Set(ids).size);
  hold(agents.length === names.length, 'no call has happened twice', agents.length);
  await server.end();
  const verified = execFileSync(process.execPath, [REPRISE, 'verify', file], { encoding: 'utf8' });
  console.log(
    `killed ${KILLS} times among ${names.length} calls: ${agents.length} agents; ${verified.trim().split('\n').at(-1)}`,
  );
}

async function listAgents(server: Server): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (let after: string | undefined; ; ) {
    const args = { limit: 200, ...(after === undefined ? {} : { after }) };
    const { result } = await server.ask('tools/call', { name: 'agent_list', arguments: args });
    const page = (
      result as { readonly structuredContent: { readonly agents: readonly unknown[]; readonly next?: string } }
    ).structuredContent;
    found.push(...page.agents);
    if (page.next === undefined) return found;
    after = page.next;
  }
}

function registration(display_name: string): object {
  return { parent_entity_id: 'ann', agent_type: 'custom', display_name, capabilities: {} };
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface Server {
  ask(method: string, params: object): Promise<Reply>;
  /** Resolves when the server has written something. */
  line(): Promise<void>;
  end(): Promise<void>;
  kill(): void;
  readonly ended: Promise<void>;
}

/** A server of a world on standard input and output. */
function serve(file: string): Server {
  const child = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      '--conditions=@reprise/source',
      path.join(ROOT, 'packages/cli/src/bin.ts'),
      'serve',
      file,
      '--mcp',
      '--as',
      'human:ann',
    ],
    {
      cwd: ROOT,
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
  const waiting = new Map<number, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>();
  let heard: (() => void)[] = [];
  const hear = () => {
    for (const one of heard) one();
    heard = [];
  };
  createInterface({ input: child.stdout }).on('line', (line) => {
    const reply = JSON.parse(line) as Reply;
    if (reply.id !== undefined) waiting.get(reply.id)?.resolve(reply);
    hear();
  });
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => {
      for (const { reject } of waiting.values()) reject(new Error('the server has ended'));
      hear();
      resolve();
    });
  });
  child.stdin.on('error', () => undefined);
  let last = 0;
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object): Promise<Reply> => {
    const id = ++last;
    const reply = new Promise<Reply>((resolve, reject) => waiting.set(id, { resolve, reject }));
    send({ id, method, params });
    return reply;
  };
  const client = { name: 'conformance', version: '1' };
  void ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: client }).then(
    () => send({ method: 'notifications/initialized' }),
    () => undefined,
  );
  return {
    ask,
    line: () => new Promise((resolve) => heard.push(resolve)),
    async end() {
      child.stdin.end();
      await ended;
    },
    kill: () => child.kill('SIGKILL'),
    ended,
  };
}

function inspect(file: string, method: string, ...given: readonly string[]): Promise<string> {
  const [node, inspector] = ['node', 'mcp-inspector'].map(programAt);
  const named = given.flatMap((arg) =>
    arg.startsWith('tool-name=') ? ['--tool-name', arg.slice(10)] : ['--tool-arg', arg],
  );
  const target = [process.execPath, REPRISE, 'serve', file, '--mcp', '--as', 'human:ann'];
  const args = [inspector as string, '--cli', ...target, '--method', method, ...named];
  return new Promise((resolve, reject) => {
    execFile(
      node as string,
      args,
      {
        encoding: 'utf8',
        cwd: ROOT,
        maxBuffer: 1 << 24,
        env: { ...process.env, MCP_INSPECTOR_SECRET_STORE: 'memory' },
      },
      (error, stdout, stderr) =>
        error === null ? resolve(stdout) : reject(new Error(`the inspector failed: ${stderr}`)),
    );
  });
}

function hold(holds: boolean, what: string, actual?: unknown): void {
  if (!holds) throw new Error(`${what}: it is not so; ${JSON.stringify(actual)}`);
}
