/**
 * opencode, a program that this project did not write, with the tools of a society over MCP: each run has the token of an
 * agent of the world.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-opencode.ts [--in FOLDER] [--verbose]
 *
 * With a good token it is offered the agent's tools, lists agents and writes to the agent's group, once for its command.
 * With the token of an agent that may less it is offered less, and is denied what goes beyond; with a token that has
 * ended, was altered, or is of an agent that was deactivated, it is offered nothing and reaches no cell. The program is
 * installed from the package registry into a folder, once (some 350 MB); its model is a server on this machine.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { memory, openWorld } from 'reprise';
import { bearerTokens, serveHttp } from 'reprise/server';
import { society } from 'reprise/society';
import { opencodeEnvironment, opencodeIn } from './opencode.js';

const PATIENCE_MS = 180_000;

const { values: options } = parseArgs({
  options: {
    in: { type: 'string', default: path.join(tmpdir(), 'reprise-opencode') },
    verbose: { type: 'boolean', default: false },
  },
});
const PROGRAM = opencodeIn(options.in);
const folder = mkdtempSync(path.join(tmpdir(), 'society-opencode-'));

/** A request of opencode, as the mock sees it. */
interface Asked {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function?: { readonly name: string } }[];
}

/** What the model was offered and told in the run that is under way. */
const seen = { tools: new Set<string>(), results: [] as string[] };

const secret = 'a secret of forty characters, for a test';
const part = society({ tokens: (world) => bearerTokens(world, { secret: 'tokens' }) });
await using world = await openWorld({ store: memory(), models: {}, parts: [part], secrets: async () => secret });
const office = world.part(part);
const ann = await office.human('ann');
const crew = office.group('crew');
await crew.open({ owner: 'ann', culture: { broadcast_eagerness: 'taciturn' } });
await crew.join('ann', 'owner');
const writer = await agent('Writer', ['agent_list', 'memory_write_warm']);
await crew.join(writer);
const narrow = await agent('Narrow', ['memory_write_warm']);
const gone = await agent('Gone', ['*']);
await crew.join(gone);

const tokens = bearerTokens(world, { secret: 'tokens' });
await using serving = await serveHttp(world, { auth: tokens.auth });
const mock = await modelServer();
try {
  const good = await tokenOf(writer);
  await works(good);
  await isDenied(await tokenOf(narrow));
  const ended = await tokenOf(writer, '1s');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const deactivated = await tokenOf(gone);
  await ann.setStatus(gone, 'deactivate');
  await world.pump(); // its parent keeps what it was about: that is no act of a client
  const altered = `${good.slice(0, -6)}${good.slice(-6) === 'AAAAAA' ? 'BBBBBB' : 'AAAAAA'}`;
  for (const [what, token] of Object.entries({ ended, altered, deactivated })) await isRefused(what, token);
  const { unverified } = await world.verify();
  hold(unverified === 0, 'everything replays', unverified);
  console.log(
    'opencode: lists and calls the tools of its agent, once for a command; too narrow: denied; ended, altered, deactivated: refused; verified',
  );
} finally {
  await mock.stop();
}

/** It is offered the agent's tools and uses them: the same command twice is one item. */
async function works(token: string): Promise<void> {
  await run('Work with the world', token);
  await run('Work with the world', token);
  hold(offered().join() === 'world_agent_list,world_memory_write_warm', 'its tools are those of the agent', offered());
  const { items } = await ann.memory.list('crew');
  hold(items.length === 1, 'two sends of one command are one item', items);
  hold(items[0]?.author === writer && items[0].content === 'Found by opencode.', 'the agent is its author', items);
  hold(
    seen.results.some((text) => text.includes('group:crew#1')),
    'the model is told of the item',
    seen.results,
  );
  hold(
    seen.results.some((text) => text.includes('"agents":[]')),
    'the model is told of the agents',
    seen.results,
  );
}

async function isDenied(token: string): Promise<void> {
  await run('Work with the world', token);
  hold(offered().join() === 'world_memory_write_warm', 'a narrow agent is offered its own tool only', offered());
  hold(
    seen.results.some((text) => text.includes('capability_denied')),
    'its write is denied',
    seen.results,
  );
  hold((await ann.memory.list('crew')).items.length === 1, 'nothing was written');
}

async function isRefused(what: string, token: string): Promise<void> {
  const { seq } = world.kernel.head;
  await run('Work with the world', token);
  hold(offered().length === 0, `a token that is ${what} offers nothing`, offered());
  const since: string[] = [];
  for await (const frame of world.kernel.frames(seq)) {
    if (frame.seq > seq) since.push(...frame.records.map(({ kind }) => kind));
    if (frame.seq >= world.kernel.head.seq) break;
  }
  hold(since.length === 0, `a token that is ${what} reaches no cell`, since);
}

function offered(): string[] {
  return [...seen.tools].filter((name) => name.startsWith('world_')).sort();
}

async function agent(display_name: string, tools: readonly string[]): Promise<string> {
  const spec = { agentType: 'custom' as const, displayName: display_name, capabilities: { tools: [...tools] } };
  return (await ann.register(spec, { id: display_name })).agent_id;
}

function tokenOf(id: string, within: '1h' | '1s' = '1h'): Promise<string> {
  return tokens.issue(`cell:society/Entity@1/${id}`, { for: within });
}

/** One run of opencode, to its end. */
async function run(prompt: string, token: string): Promise<void> {
  seen.tools.clear();
  seen.results.length = 0;
  const child = spawn(PROGRAM, ['run', prompt], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment(token) },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += bytes));
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(timer);
  if (options.verbose) console.log(output);
  hold(code === 0 && output.includes('Over.'), 'opencode comes to its end', { code, output });
  hold(!output.includes(token), 'the token stands in no output');
}

function environment(token: string): Record<string, string> {
  const headers = { Authorization: `Bearer ${token}` };
  const world = { type: 'remote', url: serving.url, headers, oauth: false, enabled: true };
  return opencodeEnvironment(path.join(folder, 'home'), mock.url, { mcp: { world } });
}

/** The model of opencode: it calls what it is offered, one tool after the other. */
async function modelServer(): Promise<LLMock> {
  const model = new LLMock({ port: 0, logLevel: 'silent' });
  const call = (id: string, name: string, args: object) => ({
    toolCalls: [{ id, name: `world_${name}`, arguments: JSON.stringify(args) }],
  });
  const note = { type: 'note', visibility: 'group', group: 'crew', content: 'Found by opencode.', command_id: 'found' };
  const isTitle = (asked: unknown) => /title/i.test(JSON.stringify((asked as Asked).messages[0] ?? ''));
  const offers = (tool: string, step: number) => (asked: unknown) => {
    const { messages, tools = [] } = asked as Asked;
    for (const { function: one } of tools) if (one !== undefined) seen.tools.add(one.name);
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content));
    for (const text of results) if (!seen.results.includes(text)) seen.results.push(text);
    return results.length === step && tools.some((one) => one.function?.name === `world_${tool}`);
  };
  model.on({ predicate: (asked) => isTitle(asked) }, { content: 'A title' });
  model.on({ predicate: offers('agent_list', 0) }, call('a', 'agent_list', {}));
  model.on({ predicate: offers('memory_write_warm', 1) }, call('b', 'memory_write_warm', note));
  model.on(
    { predicate: (asked) => offers('memory_write_warm', 0)(asked) && !seen.tools.has('world_agent_list') },
    call('c', 'memory_write_warm', note),
  );
  model.on({}, { content: 'Over.' });
  await model.start();
  return model;
}

/** A content of a message as text: a text itself, or its parts. */
function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

function hold(holds: boolean, what: string, actual?: unknown): void {
  if (!holds) throw new Error(`expected: ${what}; found ${JSON.stringify(actual)}`);
  if (options.verbose) console.log(what);
}
