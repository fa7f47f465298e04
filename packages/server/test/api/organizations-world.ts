/** A world with trees, projects and swarms of two people, over HTTP. */
import { randomBytes } from 'node:crypto';
import { type AgentWorld, defineAgent, openAgentWorld } from '@reprise/agent';
import { connect, type SessionsClient } from '@reprise/client';
import type { PolicyRule, Principal } from '@reprise/contracts';
import { memory, type Store } from '@reprise/kernel';
import { llmGenerateAdapter, type ScriptStep, scriptBy } from '@reprise/providers';
import { memoryVault, society } from '@reprise/society';
import { skill, team } from '@reprise/specialists';
import { trees } from '@reprise/tree';
import { bearerTokens, revocations, type ServeHttpOptions, serveHttp } from '../../src/index.js';

const SECRET = randomBytes(24).toString('hex');

/** The people of the world. */
export const PEOPLE = ['ann', 'bob'] as const;

/** A person of the world. */
export type Person = (typeof PEOPLE)[number];

/** The kinds of organizations of the world. */
export const KINDS = ['tree', 'project', 'swarm'] as const;

/** A kind of organization of the world. */
export type Kind = (typeof KINDS)[number];

const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.' });
const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look.' });
const talker = defineAgent({ name: 'talker', model: 'main', instructions: 'Talk.' });

/** Leads a project by one specialist; makes two nodes in a tree; answers otherwise. */
function answer({ system, messages, last }: Parameters<Parameters<typeof scriptBy>[0]>[0]): ScriptStep {
  if (messages.at(-1)?.role === 'tool') return { text: 'Done.' };
  if (system.includes('You lead'))
    return last.includes('A project of')
      ? { calls: [{ tool: 'spawn_agent', args: { task: 'Look at it.', skill: 'clerk' } }] }
      : { text: 'All is done.' };
  if (last.includes('Ask a person'))
    return { calls: [{ tool: 'ask', args: { question: 'Which one?', options: ['a', 'b'] } }] };
  if (last.includes('You are node #1'))
    return { calls: [{ tool: 'spawn', args: { goal: 'Look', prompt: 'Look at a part of it.' } }] };
  return { text: 'I looked.' };
}

/** Serves such a world. */
export async function servedOrganizations(
  options: {
    /** Whether its people are those of a society, with swarms; they have trees and projects otherwise. */
    readonly isSociety?: boolean;
    readonly store?: Store;
    readonly policy?: readonly PolicyRule[];
    readonly sessions?: ServeHttpOptions['sessions'];
  } = {},
) {
  const { isSociety = false } = options;
  const grove = trees({ agents: [worker] });
  const crew = team({
    name: 'crew',
    skills: [skill({ name: 'clerk', description: 'Looks', tools: [], body: 'Look at what is asked.' })],
    tools: [],
    coordinator: { model: 'main', identity: 'You lead.' },
  });
  const office = society({ keys: memoryVault() });
  const world: AgentWorld = await openAgentWorld({
    store: options.store ?? memory(),
    agents: [talker, scout],
    parts: [...(isSociety ? [office] : [grove, crew]), revocations],
    models: { main: {} },
    llm: (judge) => llmGenerateAdapter({ main: scriptBy(answer) }, { judge }),
    secrets: async () => SECRET,
    ...(options.policy === undefined ? {} : { policy: options.policy }),
  });
  const tokens = bearerTokens(world, { secret: 'tokens' });
  const errors: string[] = [];
  const serving = await serveHttp(world, {
    auth: tokens.auth,
    mcp: false,
    sessions: options.sessions ?? true,
    limits: { perSecond: 100_000, burst: 100_000 },
    onError: ({ message }) => errors.push(message),
  });
  const slot = { slot: 'scout', agentType: 'swarm-worker', capabilities: { tools: [] }, count: 1 } as const;
  return {
    world,
    errors,
    url: serving.url ?? '',
    /** Begins an organization of a person. */
    async begin(kind: Kind, name: string, who: Person, goal = `A goal of ${who}`): Promise<void> {
      const as: Principal = `human:${who}`;
      if (kind === 'tree') await world.part(grove).start(name, { goal }, { as });
      if (kind === 'project') await world.part(crew).project(name).send(`A project of ${who}`, { as });
      if (kind !== 'swarm') return;
      const person = await world.part(office).human(who);
      await person.createSwarm({ swarmId: name, goal: `A goal of ${who}`, strategy: 'broadcast', agents: [slot] });
    },
    /** Begins a session of a person. */
    talk: (key: string, who: Person) => world.session(key, talker).send(`Words of ${who}`, { as: `human:${who}` }),
    /** Makes both people known to the society. */
    async people(): Promise<void> {
      for (const who of PEOPLE) await world.part(office).human(who);
    },
    token: (who: Person) => tokens.issue(`human:${who}`, { for: '1h' }),
    /** A client that acts as a person. */
    async as(who: Person): Promise<SessionsClient> {
      return connect(serving.url ?? '', { token: await tokens.issue(`human:${who}`, { for: '1h' }), tries: 2 });
    },
    async [Symbol.asyncDispose]() {
      await serving.close();
      await world.close();
    },
  };
}
