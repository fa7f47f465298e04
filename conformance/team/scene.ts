/** A team in this process: a world on a file, a folder of skills, and a model that decides by what it is asked. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { openAgentWorld } from '@reprise/agent';
import { llmGenerateAdapter } from '@reprise/providers';
import { PROJECT, projectTables } from '@reprise/specialists';
import type { AgentWorld, Tool } from 'reprise';
import { openAiCompatible } from 'reprise/providers';
import { folder, type Project, type TeamOptions, team } from 'reprise/specialists';
import { sqlite } from 'reprise/sqlite';
import { type Asked, type ModelServer, modelServer, type Said } from './model-server.js';
import { inFolder } from './run.js';
import { type SkillFile, writeSkill } from './workflow.js';

/** What a scene consists of. */
export interface SceneOptions extends Partial<Omit<TeamOptions, 'skills' | 'tools' | 'coordinator'>> {
  readonly skills: readonly SkillFile[];
  readonly tools?: readonly Tool[] | ((folder: string) => readonly Tool[]);
  readonly coordinatorTools?: readonly Tool[];
  /** The price of the model `main`, in dollars per million tokens; none when absent. */
  readonly price?: { readonly in: number; readonly out: number };
  /** Further models, none of which has a price. */
  readonly others?: readonly string[];
  readonly decide: (asked: Asked, scene: Scene) => Said | Promise<Said>;
}

/** A scene that is open. */
export interface Scene {
  readonly folder: string;
  readonly skills: string;
  readonly server: ModelServer;
  readonly world: AgentWorld;
  project(id?: string): Project;
}

/** Plays a scene, and removes it. */
export async function inScene<T>(options: SceneOptions, act: (scene: Scene) => Promise<T>): Promise<T> {
  const { skills: files, tools = [], coordinatorTools = [], price, others = [], decide, ...rest } = options;
  return inFolder(async (at) => {
    const skills = path.join(at, 'skills');
    mkdirSync(skills);
    for (const skill of files) writeSkill(skills, skill);
    let scene: Scene | undefined;
    const server = await modelServer((asked) => (scene === undefined ? { text: '' } : decide(asked, scene)));
    const shop = team({
      name: 'shop',
      ...rest,
      skills: [folder(skills)],
      tools: typeof tools === 'function' ? tools(at) : tools,
      coordinator: { model: 'main', identity: 'You coordinate.', tools: coordinatorTools },
    });
    const named = [...others.map((alias) => [alias, undefined] as const), ['main', price] as const];
    const models = Object.fromEntries(named.map(([alias, its]) => [alias, its === undefined ? {} : { price: its }]));
    const clients = Object.fromEntries(
      named.map(([alias]) => [alias, openAiCompatible({ baseUrl: server.url, model: 'mock', ...models[alias] })]),
    );
    const world = await openAgentWorld({
      store: sqlite(path.join(at, 'w.db')),
      agents: [],
      parts: [shop],
      models,
      // As many calls at once as the largest of the scenes needs.
      llm: (judge) => llmGenerateAdapter(clients, { judge, concurrency: 64 }),
    }).catch((error: unknown) => {
      server.stop();
      throw error;
    });
    scene = { folder: at, skills, server, world, project: (id = 'auth') => world.part(shop).project(id) };
    try {
      return await act(scene);
    } finally {
      await world.close();
      server.stop();
    }
  });
}

/** A digest of all that a project stores. */
export async function digestOf(world: AgentWorld, id = 'auth'): Promise<string> {
  const hash = createHash('sha256');
  hash.update(JSON.stringify(await world.kernel.state([PROJECT, id])));
  for (const name of Object.keys(projectTables).toSorted()) {
    let page = await world.kernel.table([PROJECT, id], name);
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      hash.update(`${name} ${JSON.stringify(page)}`);
      page = await world.kernel.table([PROJECT, id], name, { after: last[0] });
    }
  }
  return hash.digest('hex');
}

/** How many slots of the pool are in use. */
export async function slotsInUse(world: AgentWorld): Promise<number> {
  return (await world.kernel.table(['flow/Queue@1', 'specialists/shop'], 'running')).length;
}
