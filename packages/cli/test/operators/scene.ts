/** A world with a conversation, a tree and a team, each of which waits for a person; its models have a price, but for one. */
import { type AgentWorld, defineAgent, defineTool, openAgentWorld } from '@reprise/agent';
import type { Clock } from '@reprise/kernel';
import {
  llmGenerateAdapter,
  type ModelClient,
  type ScriptRequest,
  type ScriptStep,
  scriptBy,
  withPrice,
} from '@reprise/providers';
import { memoryVault, society } from '@reprise/society';
import { skill, team } from '@reprise/specialists';
import { sqlite } from '@reprise/store-sqlite';
import { trees } from '@reprise/tree';
import * as z from 'zod';

const book = defineTool({
  name: 'book',
  description: 'Books a table.',
  args: z.strictObject({ table: z.string() }),
  approval: 'always',
  run: ({ table }) => `Booked ${table}.`,
});
export const host = defineAgent({ name: 'host', model: 'main', instructions: 'Book tables.', tools: [book] });
export const thinker = defineAgent({ name: 'thinker', model: 'free', instructions: 'Think.' });
const surveyor = defineAgent({ name: 'surveyor', model: 'main', instructions: 'Survey.' });

const steps = scriptBy((request) => ({ ...stepOf(request), usage: { tokens_in: 1_000, tokens_out: 100 } }));

function stepOf({ system, last, messages }: ScriptRequest): ScriptStep {
  if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
  if (system.includes('Book tables')) return { calls: [{ tool: 'book', args: { table: 'two, at eight' } }] };
  if (system.includes('Survey'))
    return last.includes('You are node #1')
      ? { calls: [{ tool: 'ask', args: { question: 'Keep the old parser?', options: ['yes', 'no'] } }] }
      : { text: 'I wait.' };
  if (system.includes('Your skill')) return { calls: [{ tool: 'book', args: { table: 'four' } }] };
  if (system.includes('You lead')) return { calls: [{ tool: 'spawn_agent', args: { task: 'Book.', skill: 'clerk' } }] };
  return { text: 'I think so.' };
}

const priced: ModelClient = withPrice(steps, { in: 2, out: 10 });

/** A clock that goes on by a second at each look, from the same time. */
export function ticking(): Clock {
  let wall = Date.UTC(2026, 0, 2, 9);
  return {
    wall: () => {
      wall += 1_000;
      return wall;
    },
    monotonic: () => performance.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

/** The scene, with the parts that a test acts on. */
export interface Scene {
  readonly world: AgentWorld;
  /** Lets everything happen until it waits for people. */
  settled(): Promise<void>;
}

/** Opens the scene. */
export async function openScene(path: string): Promise<Scene> {
  const grove = trees({ agents: [surveyor] });
  const crew = team({
    name: 'crew',
    skills: [skill({ name: 'clerk', description: 'Books', tools: ['book'], body: 'Book what is asked.' })],
    tools: [book],
    coordinator: { model: 'main', identity: 'You lead.' },
  });
  const world = await openAgentWorld({
    ...{ store: sqlite(path), clock: ticking(), parts: [grove, crew], agents: [host, thinker], snapshotEvery: 16 },
    models: { main: {}, free: {} },
    llm: (judge) => llmGenerateAdapter({ main: priced, free: steps }, { judge }),
  });
  const settled = async (): Promise<void> => void (await world.pump());
  const thought = await world.session('thoughts', thinker).send('What do you think?');
  await thought.result;
  await world.session('main', host).send('A table for two at eight.');
  await world.part(grove).start('upgrade', { goal: 'Upgrade the parser' }, { id: 'upgrade' });
  await world.part(crew).project('party').send('A party for four.');
  await settled();
  return { world, settled };
}

/** Writes the scene and leaves it. */
export async function makeScene(path: string): Promise<void> {
  const { world } = await openScene(path);
  await world.close();
}

/** Writes a world with a swarm of three that has done its work. */
export async function makeSwarm(path: string): Promise<void> {
  const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });
  const members = { ...society({ keys: memoryVault() }), agents: [scout] };
  const world = await openAgentWorld({
    ...{ store: sqlite(path), clock: ticking(), snapshotEvery: 64 },
    parts: [members],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: scriptBy(() => ({ text: 'A market.' })) }, { judge }),
  });
  const ann = await world.part(members).human('ann');
  const slot = { slot: 'scout', agentType: 'swarm-worker', capabilities: { tools: [] }, count: 3 } as const;
  await ann.createSwarm({ swarmId: 'markets', goal: 'Compare markets', strategy: 'broadcast', agents: [slot] });
  await world.pump();
  await world.close();
}
