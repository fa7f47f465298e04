/**
 * Trees whose owner is killed again and again, by SIGKILL at random moments: in a prompt, a model call, a tool call,
 * between the end of a child and the synthesis.
 *
 *   npx tsx --conditions=@reprise/source conformance/tree-kill.ts [--kills 200] [--trees 20] [--seed 1] [--mutant forgets]
 *
 * The model is a server on this machine that plays every node by its prompt and counts requests; each node appends one
 * line to a file by a tool that must not be executed twice. In the end every tree is complete with the results of all of
 * its nodes, no launch was made twice, no line is in the file twice, and the journal is verified.
 *
 * `--mutant forgets` lets the owner make its launches outside of the journal's state, under an id of each process: the run
 * must then fail.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { defineAgent, defineTool, openWorld } from 'reprise';
import { verifyStore } from 'reprise/kernel';
import { appOf } from 'reprise/parts';
import { openAiCompatible } from 'reprise/providers';
import { sqlite } from 'reprise/sqlite';
import { trees } from 'reprise/tree';
import * as z from 'zod';
import { randomFrom } from './random.js';

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    trees: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    mutant: { type: 'string' },
    /** For the process that is killed. */
    owner: { type: 'string' },
    url: { type: 'string', default: '' },
    tree: { type: 'string', default: '' },
  },
});

const GOALS = ['the code', 'the tests', 'the pages', 'the build'] as const;

const write = (folder: string) =>
  defineTool({
    name: 'write_line',
    description: 'Appends a line to the list.',
    args: z.strictObject({ line: z.string() }),
    run: ({ line }) => {
      appendFileSync(path.join(folder, 'lines.txt'), `${line}\n`);
      return 'written';
    },
  });

function parts(folder: string) {
  const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools: [write(folder)] });
  return trees({ agents: [worker] });
}

/** The process that is killed: it opens the world, starts the tree or goes on with it, and waits for its end. */
async function own(folder: string): Promise<void> {
  const part = parts(folder);
  const models = { main: openAiCompatible({ baseUrl: options.url, model: 'played', apiKey: 'none' }) };
  const world = await openWorld({ store: sqlite(path.join(folder, 'world.db')), models, parts: [part] });
  const name = options.mutant === 'forgets' ? `${options.tree}.${process.pid}` : options.tree;
  const tree = await world.part(part).start(name, { goal: 'Survey it', limits: { parallel: 3 } }, { id: name });
  process.stdout.write('open\n');
  const { status, text } = await tree.result();
  await world.close();
  process.stdout.write(`${JSON.stringify({ status, text })}\n`);
}

interface Message {
  readonly role: string;
  readonly content?: unknown;
}

/** Plays every node by its prompt. */
function answerTo(messages: readonly Message[]): {
  readonly text?: string;
  readonly calls?: readonly [string, object][];
} {
  const at = messages.findLastIndex(
    ({ role, content }) => role === 'user' && textOf(content).startsWith('You are node #'),
  );
  const prompt = textOf(messages[at]?.content);
  const step = messages.slice(at).filter(({ role }) => role === 'assistant').length;
  const n = /^You are node #(\d+)/.exec(prompt)?.[1] ?? '0';
  const tree = /of the tree ([a-z0-9.]+)/.exec(prompt)?.[1] ?? '';
  if (prompt.includes('## Results of your children')) {
    if (step > 0) return { text: 'Done.' };
    const found = [...prompt.matchAll(/found (the \w+)/g)].map(([, what]) => what).sort();
    return { calls: [['complete', { result: `found ${[...new Set(found)].join(', found ')}` }]] };
  }
  const makes = n === '1' ? GOALS : prompt.includes('"the code" <- your task') ? ['the kernel', 'the agent'] : [];
  if (makes.length > 0) {
    if (step > 0) return { text: 'Made.' };
    const spawned = makes.map((goal, i): [string, object] => [
      i % 2 === 0 ? 'spawn' : 'fork',
      { goal, prompt: `Look at ${goal} of the tree ${tree}.`, ...(goal === 'the build' ? { blocked_by: [2, 3] } : {}) },
    ]);
    return { calls: spawned };
  }
  const goal = /"([^"]+)" <- your task/.exec(prompt)?.[1] ?? '';
  if (step === 0) return { calls: [['write_line', { line: `${n} ${goal}` }]] };
  if (step === 1) return { calls: [['complete', { result: `found ${goal}` }]] };
  return { text: 'Done.' };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}

/** The model: a server that speaks the chat protocol, and takes a little while for each answer. */
async function modelServer(): Promise<{ readonly server: Server; readonly url: string; count: number }> {
  const model = { server: undefined as never as Server, url: '', count: 0 };
  model.server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      model.count++;
      const { messages } = JSON.parse(Buffer.concat(chunks).toString()) as { messages: readonly Message[] };
      const { text, calls = [] } = answerTo(messages);
      const tool_calls = calls.map(([name, args], index) => ({
        ...{ index, id: `call_${model.count}_${index}`, type: 'function' },
        function: { name, arguments: JSON.stringify(args) },
      }));
      const delta = {
        role: 'assistant',
        ...(text === undefined ? {} : { content: text }),
        ...(calls.length === 0 ? {} : { tool_calls }),
      };
      const finish_reason = calls.length === 0 ? 'stop' : 'tool_calls';
      const all = [
        { choices: [{ index: 0, delta, finish_reason: null }] },
        { choices: [{ index: 0, delta: {}, finish_reason }], usage: { prompt_tokens: 100, completion_tokens: 10 } },
      ];
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`${all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`);
      }, 15);
    });
  });
  await new Promise<void>((resolve) => model.server.listen(0, '127.0.0.1', resolve));
  model.url = `http://127.0.0.1:${(model.server.address() as AddressInfo).port}/v1`;
  return model;
}

interface Owner {
  readonly process: ChildProcess;
  /** Resolves when the world is open. */
  readonly opened: Promise<boolean>;
  /** Resolves with the last line when it exits. */
  readonly ended: Promise<string>;
}

function owner(folder: string, tree: string, url: string): Owner {
  const argv = ['--conditions=@reprise/source', '--import', 'tsx', fileURLToPath(import.meta.url)];
  const own = [
    '--owner',
    folder,
    '--tree',
    tree,
    '--url',
    url,
    ...(options.mutant === undefined ? [] : ['--mutant', options.mutant]),
  ];
  const child = spawn(process.execPath, [...argv, ...own], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const ended = new Promise<string>((resolve) =>
    child.once('close', () => resolve(output.trim().split('\n').at(-1) ?? '')),
  );
  const opened = new Promise<boolean>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('open\n')) resolve(true);
    });
    child.once('close', () => resolve(false));
  });
  return { process: child, opened, ended };
}

/** What went wrong; empty when everything held. */
const broken: string[] = [];

/** Plays one tree: killed so many times, and then left to its end. @returns the kills that met a living owner */
async function play(name: string, kills: number, url: string, random: (below: number) => number): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'tree-kill-'));
  let killed = 0;
  let last = '';
  for (let i = 0; i <= kills && !last.startsWith('{'); i++) {
    const one = owner(folder, name, url);
    if (i < kills) {
      // Some are killed while they open the world.
      const early = random(5) === 0;
      if (!early) await one.opened;
      await new Promise((resolve) => setTimeout(resolve, early ? 400 + random(600) : random(160)));
      if (one.process.exitCode === null && one.process.kill('SIGKILL')) killed++;
    }
    last = await one.ended;
  }
  await judge(folder, name, last);
  rmSync(folder, { recursive: true, force: true });
  return killed;
}

const ALL = 'found the agent, found the build, found the kernel, found the pages, found the tests';

async function judge(folder: string, name: string, last: string): Promise<void> {
  const { status, text } = (last.startsWith('{') ? JSON.parse(last) : {}) as { status?: string; text?: string };
  if (status !== 'complete' || text !== ALL) broken.push(`${name}: lost something: ${last}`);
  const lines = existsSync(path.join(folder, 'lines.txt')) ? readFileSync(path.join(folder, 'lines.txt'), 'utf8') : '';
  const written = lines.split('\n').filter((line) => line !== '');
  if (new Set(written).size !== written.length)
    broken.push(`${name}: a tool was executed twice: ${written.join(', ')}`);
  const part = parts(folder);
  const store = sqlite(path.join(folder, 'world.db'));
  const models = { main: openAiCompatible({ baseUrl: 'http://127.0.0.1:9/v1', model: 'none', apiKey: 'none' }) };
  const world = await openWorld({ store, models, parts: [part] });
  const tree = world.part(part).tree(name);
  for (const { n } of await tree.nodes()) {
    const launches = ((await tree.node(n))?.launches ?? []).map(({ launch }) => launch);
    if (new Set(launches).size !== launches.length)
      broken.push(`${name}: #${n} was launched twice: ${launches.join()}`);
  }
  await world.close();
  const reader = await store.openReadonly();
  const { unverified } = await verifyStore(reader, { app: appOf([part]) });
  if (unverified !== 0) broken.push(`${name}: ${unverified} frames are not verified`);
  await reader.close();
}

async function main(): Promise<void> {
  const [kills, count, seed] = [Number(options.kills), Number(options.trees), Number(options.seed)];
  const next = randomFrom(seed);
  const random = (below: number) => Math.floor(next() * below);
  const model = await modelServer();
  let killed = 0;
  for (let i = 0; i < count; i++)
    killed += await play(`t${i}`, Math.ceil((kills - killed) / (count - i)), model.url, random);
  model.server.close();
  for (const line of broken) console.error(line);
  if (broken.length > 0) {
    console.error(
      `rerun: npx tsx --conditions=@reprise/source conformance/tree-kill.ts --kills ${kills} --trees ${count} --seed ${seed}`,
    );
    process.exitCode = 1;
    return;
  }
  console.log(
    `${killed} kills: ${count} trees ended, launched twice 0, lost 0, verify identical (${model.count} model requests)`,
  );
}

if (options.owner !== undefined) await own(options.owner);
else await main();
