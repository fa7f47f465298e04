/**
 * Six worlds for the ten questions of an operator: the sample, the coding agent and the chat as their programs record them,
 * and a tree, a team and a swarm, in which a person has allowed an edit and another one waits. No model is asked over a network.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AgentWorld, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import { llmGenerateAdapter, type ScriptRequest, type ScriptStep, scriptBy, withPrice } from '@reprise/providers';
import { skill, team } from '@reprise/specialists';
import { sqlite } from '@reprise/store-sqlite';
import { trees } from '@reprise/tree';
import * as z from 'zod';
import { startChatServer } from '../../../../examples/chat/src/server.js';
import { embeddedModel, waiter } from '../../../../examples/chat/src/waiter.js';
import { program } from '../../../../scripts/lib/program.js';
import { makeMemories } from '../../../cli/test/operators/memory-scene.js';

type OpenOptions = Parameters<typeof openAgentWorld>[0];

const EXAMPLES = new URL('../../../../examples/', import.meta.url);

/** Makes the worlds in a folder. @returns their files by name */
export async function makeExamples(folder: string): Promise<Readonly<Record<ExampleName, string>>> {
  const file = (name: string) => join(folder, `${name}.db`);
  await makeTree(file('tree'));
  await makeTeam(file('team'));
  await makeMemories(file('swarm'));
  await makeChat(file('chat'));
  return {
    sample: await makeSample(join(folder, 'sample')),
    coder: await makeCoder(join(folder, 'coder')),
    tree: file('tree'),
    team: file('team'),
    swarm: file('swarm'),
    chat: file('chat'),
  };
}

export type ExampleName = 'sample' | 'coder' | 'tree' | 'team' | 'swarm' | 'chat';

/** The sample of `npm start`, which surveys a folder of three files. */
async function makeSample(folder: string): Promise<string> {
  const files = { 'README.md': '# Kettle\n\nBoils water.\n', 'src/boil.ts': 'export const boil = 1; // TODO heat\n' };
  for (const [name, text] of Object.entries({ ...files, 'src/deep/steam.py': 'print(1)\n' })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const out = `${folder}-out`;
  await ran(new URL('headless-world/src/main.ts', EXAMPLES), [folder, '--out', out, '--quiet']);
  return join(out, 'world.db');
}

/** The coding agent, which fixes the failing test of its own demo. */
async function makeCoder(folder: string): Promise<string> {
  const task = ['--print', 'One of the tests fails. Fix it.', '--yes', '--id', 'job-1'];
  const worlds = `${folder}-worlds`;
  await ran(new URL('coding-agent/src/main.ts', EXAMPLES), [folder, '--demo', '--worlds', worlds, ...task]);
  return join(worlds, '1.db');
}

/** Runs a program as its user does, without a key of any service. */
async function ran(main: URL, args: readonly string[]): Promise<void> {
  const { OPENAI_API_KEY: _, OPENAI_BASE_URL: __, ANTHROPIC_API_KEY: ___, ...env } = process.env;
  const child = spawn(process.execPath, [await program(main), ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    said += more;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${main.pathname} ended with ${code}: ${said}`);
}

/** The chat, over HTTP: a guest agrees to one table, and is asked about another. */
async function makeChat(file: string): Promise<void> {
  const models = { main: withPrice(embeddedModel(0), { in: 2, out: 10 }) };
  const world = await openAgentWorld({
    ...{ store: sqlite(file), agents: [waiter], models: { main: {} }, snapshotEvery: 16 },
    llm: (judge) => llmGenerateAdapter(models, { judge }),
  });
  const server = await startChatServer({ world, agent: waiter, files: {}, port: 0 });
  const posted = async (what: string, body: unknown) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json' };
    const response = await fetch(`${server.url}/api/chat${what}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
    await world.pump();
  };
  const user = (id: string, text: string) => ({
    id: 'ada',
    trigger: 'submit-message',
    messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
  });
  await posted('', user('m-1', 'A table for 4 at 20:00'));
  for (const { id } of await world.pending()) await posted('/ada/decide', { id, approve: true });
  await posted('', user('m-2', 'A table for 2 at 21:00'));
  await server.close();
  await world.close();
}

const write = defineTool({
  name: 'write',
  description: 'Writes a file.',
  args: z.strictObject({ path: z.string(), text: z.string() }),
  approval: 'always',
  run: ({ path }) => `Wrote ${path}.`,
});

const edit = (path: string): ScriptStep => ({
  text: 'I change it.',
  calls: [{ tool: 'write', args: { path, text: 'new' } }],
});

/** Lets a person allow what waits, and everything happen that follows. */
async function allowed(world: AgentWorld): Promise<void> {
  await world.pump();
  for (const { id } of await world.pending()) await world.decide(id, { approve: true }, { as: 'human:ann' });
  await world.pump();
}

/** A model of rules with a price. */
function ruled(answer: (request: ScriptRequest) => ScriptStep): OpenOptions['llm'] {
  const model = scriptBy((request) => ({ ...answer(request), usage: { tokens_in: 1_000, tokens_out: 50 } }));
  return (judge) => llmGenerateAdapter({ main: withPrice(model, { in: 2, out: 10 }) }, { judge });
}

/** A tree: its root edits a file, which a person allows, and asks a question that nobody has answered. */
async function makeTree(file: string): Promise<void> {
  const builder = defineAgent({ name: 'builder', model: 'main', instructions: 'Build.', tools: [write] });
  const grove = trees({ agents: [builder] });
  const world = await openAgentWorld({
    ...{ store: sqlite(file), parts: [grove], models: { main: {} }, snapshotEvery: 16 },
    llm: ruled(({ messages }) => {
      if (messages.at(-1)?.role !== 'tool') return edit('src/parser.js');
      return { calls: [{ tool: 'ask', args: { question: 'Keep the old parser?', options: ['yes', 'no'] } }] };
    }),
  });
  await world.part(grove).start('upgrade', { goal: 'Upgrade the parser' }, { id: 'upgrade' });
  await allowed(world);
  await world.close();
}

/** A team: its coordinator gives two tasks; a person allows the edit of the first one. */
async function makeTeam(file: string): Promise<void> {
  const crew = team({
    name: 'crew',
    skills: [skill({ name: 'clerk', description: 'Writes', tools: ['write'], body: 'Write what is asked.' })],
    tools: [write],
    coordinator: { model: 'main', identity: 'You lead.' },
  });
  const world = await openAgentWorld({
    ...{ store: sqlite(file), parts: [crew], models: { main: {} }, snapshotEvery: 16 },
    llm: ruled(({ system, last, messages }) => {
      const isAnswered = messages.at(-1)?.role === 'tool';
      if (system.includes('Your skill'))
        return isAnswered ? { text: 'It is written.' } : edit(last.includes('menu') ? 'menu.md' : 'plan.md');
      if (isAnswered || !last.includes('party')) return { text: 'I wait for the clerk.' };
      const tasks = ['Write the plan.', 'Write the menu.'];
      return { calls: tasks.map((task) => ({ tool: 'spawn_agent', args: { task, skill: 'clerk' } })) };
    }),
  });
  await world.part(crew).project('party').send('Plan the party for four.');
  await world.pump();
  const [first] = await world.pending();
  if (first !== undefined) await world.decide(first.id, { approve: true }, { as: 'human:ann' });
  await world.pump();
  await world.close();
}
