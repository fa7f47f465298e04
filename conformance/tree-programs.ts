/**
 * Trees whose nodes are a real program: opencode, by the MCP server that the owner of the world gives to it. Its model is
 * a server on this machine.
 *
 *   npx tsx --conditions=@reprise/source conformance/tree-programs.ts [--in FOLDER] [--mutant relay] [--verbose]
 *
 * The program is installed from the package registry into a folder, once (some 350 MB). A root of opencode decomposes
 * into two nodes, one of opencode; a person answers one's question; the root synthesizes in its own session. A node is
 * stopped in its turn, and its process group is gone. The owner is killed in a turn: what the program did is unknown, and
 * a second attempt completes. Then everything is replayed without the program.
 *
 * `--mutant relay` takes the text about a turn that failed, or whose outcome is unknown, for the program's answer: the
 * run must then fail.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { type Tree, type Trees, trees } from '@reprise/tree';
import { bridge, opencode, program } from '@reprise/tree/serve';
import { type AgentWorld, type AnyAgent, defineAgent, openWorld } from 'reprise';
import { externalAgent, relay } from 'reprise/external';
import { verifyStore } from 'reprise/kernel';
import { appOf } from 'reprise/org';
import { scriptBy } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { opencodeEnvironment, opencodeIn } from './opencode.js';

const PATIENCE_MS = 120_000;

const { values: options } = parseArgs({
  options: {
    in: { type: 'string', default: path.join(tmpdir(), 'reprise-external-agent') },
    mutant: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    /** For the process that is killed: its folder, and the address of the model. */
    host: { type: 'string' },
    model: { type: 'string' },
  },
});

const PROGRAM = opencodeIn(options.in);

/** The request of opencode, as the mock sees it. */
interface Asked {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
}

const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));
/** The prompt of the turn that is under way. */
const promptOf = ({ messages }: Asked): string => textOf(messages.findLast(({ role }) => role === 'user')?.content);
/** How many results of tools the turn has. */
const stepOf = ({ messages }: Asked): number =>
  messages.slice(messages.findLastIndex(({ role }) => role === 'user')).filter(({ role }) => role === 'tool').length;

/** A world whose nodes may be opencode or a scripted model, and what the watch of its programs heard. */
async function open(folder: string, modelUrl: string) {
  const file = path.join(folder, 'world.db');
  const groups: { readonly session: string; readonly group: number }[] = [];
  const link = bridge({ world: file });
  const doubt = options.mutant === 'relay' ? { onUnknown: 'tell_model' as const } : {};
  const coder = externalAgent({
    ...opencode({ bridge: link, cwd: folder, ...programOf(folder, modelUrl) }),
    ...doubt,
    watch: {
      starting: (ctx) => link.watch.starting(ctx),
      started: (ctx, program) => {
        groups.push({ session: ctx.session.key, group: program.group });
        link.watch.started(ctx, program);
      },
    },
  });
  const broken = externalAgent({
    ...program({ name: 'broken', command: ['/bin/sh', '-c', 'echo half of it; exit 3'] }),
    ...doubt,
  });
  const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });
  const main = scriptBy(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? { text: 'Done.' }
      : { calls: [{ tool: 'complete', args: { result: 'The scripted node counted 12 words.' } }] },
  );
  const agents = [coder, worker, broken];
  const part = trees({ agents, bridge: link });
  const models = { relay: options.mutant === 'relay' ? believing() : relay(), main };
  const world = await openWorld({ store: sqlite(file), models, parts: [part] });
  return { world, forest: world.part(part), coder, broken, groups, file, app: appOf([trees({ agents })]) };
}

function programOf(folder: string, modelUrl: string) {
  const command: [string, string] = [PROGRAM, 'acp'];
  return { command, env: opencodeEnvironment(path.join(folder, 'home'), modelUrl) };
}

/** The mutant: a relay that takes the text of a failed turn for the program's answer. */
function believing(): ReturnType<typeof relay> {
  const sound = relay();
  return {
    ...sound,
    generate: (request, context) => {
      const messages = request.messages.map((one) => (one.role === 'tool' ? { ...one, isError: false } : one));
      return sound.generate({ ...request, messages }, context);
    },
  };
}

if (options.host !== undefined) await host(options.host, options.model ?? '');
else await main();

/** The process that is killed in a turn of its program. */
async function host(folder: string, modelUrl: string): Promise<void> {
  const { forest } = await open(folder, modelUrl);
  await forest.start('killed', { goal: 'Take your time', limits: { attempts: 2 } }, { id: 'killed' });
  setInterval(() => undefined, 1_000);
}

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tree-programs-'));
  const slow = { count: 0, hangs: true };
  const mock = await modelServer(slow);
  const held: string[] = [];
  try {
    const opened = await open(folder, mock.url);
    const { forest, groups, file, app } = opened;
    held.push(await decomposes(opened.world, forest));
    held.push(await stops(forest, groups, slow));
    await fails(forest, opened.broken);
    await opened.world.close();

    held.push(await survives(folder, mock.url, slow));

    const reader = await sqlite(file).openReadonly();
    const { unverified } = await verifyStore(reader, { app });
    hold(unverified === 0, 'everything replays', unverified);
    await reader.close();
    held.push('verify identical without the program');
    console.log(`opencode: ${held.join('; ')}`);
  } finally {
    await mock.stop();
  }
}

async function decomposes(world: AgentWorld, forest: Trees): Promise<string> {
  const tree = await forest.start('survey', { goal: 'Survey the folder' }, { id: 'survey' });
  const ask = await until(async () => (await tree.asks())[0], 'a question');
  hold(ask.asker === 2 && ask.question.includes('Keep the old one?'), 'node 2 asks', ask);
  await say(tree);
  const done = await tree.answer(ask.ask, 'yes', { as: 'human:ann', id: 'answer' });
  hold(done.status === 'applied', 'the answer is taken', done);
  const { status, text } = await tree.result();
  await say(tree);
  hold(
    status === 'complete' && text === 'Both parts are surveyed: it is kept, 12 words.',
    'the root synthesizes',
    text,
  );
  const [root, first, second] = await Promise.all([1, 2, 3].map((n) => tree.node(n)));
  hold([first?.agent, second?.agent].join() === 'opencode,worker', 'one child is opencode', [
    first?.agent,
    second?.agent,
  ]);
  const sessions = new Set(root?.launches.map(({ session }) => session));
  hold(root?.launches.length === 2 && sessions.size === 1, 'the root ran twice in one session', root?.launches);
  hold(first?.given !== undefined, 'the node of opencode has a result', first);
  hold((await world.pending()).length === 0, 'nothing is left open');
  return 'root decomposed into 2, one of them opencode; synthesis by the same session; asked and answered by a person';
}

async function stops(
  forest: Trees,
  groups: readonly { readonly session: string; readonly group: number }[],
  slow: { count: number },
): Promise<string> {
  const tree = await forest.start('stopped', { goal: 'Take your time' }, { id: 'stopped' });
  await until(async () => (slow.count > 0 ? true : undefined), 'a turn under way');
  const [{ group } = { group: 0 }] = groups.filter(({ session }) => session === 'stopped/1');
  hold(isAlive(group), 'its process group is there', group);
  await tree.stop(1, { as: 'human:ann', id: 'stop' });
  const { status } = await tree.result();
  hold(status === 'cancelled', 'the tree is cancelled', status);
  await until(async () => (isAlive(group) ? undefined : true), 'the end of its process group');
  return 'stopped: group gone';
}

async function fails(forest: Trees, broken: AnyAgent): Promise<void> {
  const spec = { goal: 'Break', agent: broken, limits: { attempts: 2 } };
  const tree = await forest.start('broken', spec, { id: 'broken' });
  const { status, text } = await tree.result();
  const attempts = (await tree.node(1))?.launches.length;
  hold(status === 'failed' && attempts === 2, 'a program that exits with 3 gives no result', {
    status,
    text,
    attempts,
  });
}

async function survives(folder: string, modelUrl: string, slow: { count: number; hangs: boolean }): Promise<string> {
  const before = slow.count;
  const argv = ['--conditions=@reprise/source', '--import', 'tsx', fileURLToPath(import.meta.url)];
  const owner = spawn(process.execPath, [...argv, '--in', options.in, '--host', folder, '--model', modelUrl], {
    stdio: 'inherit',
  });
  await until(async () => (slow.count > before ? true : undefined), 'a turn under way');
  const exited = new Promise((resolve) => owner.once('exit', resolve));
  owner.kill('SIGKILL');
  await exited;
  slow.hangs = false;
  const { world, forest, coder } = await open(folder, modelUrl);
  const tree = forest.tree('killed');
  const { status, text } = await tree.result();
  await say(tree);
  hold(status === 'complete' && text === 'It took its time.', 'the second attempt completes', { status, text });
  const launches = (await tree.node(1))?.launches ?? [];
  hold(launches.map(({ attempt }) => attempt).join() === '1,2', 'there were two attempts', launches);
  const stops: string[] = [];
  for await (const event of world.session('killed/1', coder).events({ follow: false })) {
    if (event.type !== 'lifecycle' || event.stop === undefined) continue;
    stops.push(event.stop.kind === 'Failed' ? `Failed ${event.stop.code}` : event.stop.kind);
  }
  await world.close();
  hold(stops.length === 2 && /unknown/.test(stops[0] ?? ''), 'the first attempt is of unknown outcome', stops);
  return 'owner killed in a turn: outcome_unknown, second attempt complete';
}

/** The model of opencode: it plays the nodes of the trees above. */
async function modelServer(slow: { count: number; hangs: boolean }) {
  const mock = new LLMock({ port: 0, logLevel: 'silent', chunkSize: 40 });
  const tool = (id: string, name: string, args: object) => ({
    toolCalls: [{ id, name: `tree_${name}`, arguments: JSON.stringify(args) }],
  });
  const on = (text: string, step: number, answer: object, also = '') =>
    mock.on(
      {
        predicate: (asked) => {
          const prompt = promptOf(asked as never);
          return prompt.includes(text) && prompt.includes(also) && stepOf(asked as never) === step;
        },
      },
      answer as never,
    );
  const isTitle = (asked: unknown) => JSON.stringify((asked as Asked).messages[0] ?? '').includes('title');
  mock.on({ predicate: isTitle }, { content: 'A title' });
  mock.on(
    {
      predicate: (asked) => {
        const takes = promptOf(asked as never).includes('Take your time') && stepOf(asked as never) === 0;
        if (takes) slow.count++;
        return takes && slow.hangs;
      },
    },
    { content: 'word '.repeat(320) },
    { latency: 500 },
  );
  on('Take your time', 0, tool('t', 'complete', { result: 'It took its time.' }));
  on(
    'Results of your children',
    0,
    tool('s', 'complete', { result: 'Both parts are surveyed: it is kept, 12 words.' }),
  );
  on('#1 "Survey the folder" <- your task', 0, {
    toolCalls: [
      ['a', { goal: 'Decide', prompt: 'Decide whether the old one is kept.' }],
      ['b', { goal: 'Count', prompt: 'Count the words.', agent: 'worker' }],
    ].map(([id, args]) => ({ id, name: 'tree_spawn', arguments: JSON.stringify(args) })),
  });
  on(
    '"Decide" <- your task',
    0,
    tool('q', 'ask', { question: 'Keep the old one?', options: ['yes', 'no'], target: 'human' }),
  );
  on('"Decide" <- your task', 1, tool('c', 'complete', { result: 'It is kept.' }));
  mock.on({}, { content: 'Over.' });
  await mock.start();
  return mock;
}

async function say(tree: Tree): Promise<void> {
  if (!options.verbose) return;
  for (const { n, type, status, code, agent } of await tree.nodes())
    console.log(tree.name, n, type, status, code, agent);
}

function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

async function until<T>(look: () => Promise<T | undefined>, what: string): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what} did not come`);
}

function hold(holds: boolean, what: string, actual?: unknown): void {
  if (!holds) throw new Error(`${what}: it is not so; ${JSON.stringify(actual)}`);
  if (options.verbose) console.log(what);
}
