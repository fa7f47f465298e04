/** What is at work when something fails: a session, a tree, a team, a swarm. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { AgentWorld, AgentWorldOptions, AnyAgent, Run } from '@reprise/agent';
import * as z from 'zod';
import { defineAgent, defineTool, openWorld } from '../../src/index.js';
import type { Store } from '../../src/kernel.js';
import { mcp } from '../../src/mcp.js';
import { type ModelClient, scriptBy } from '../../src/providers.js';

/** What a stage is opened with. */
export interface StageOptions extends Pick<AgentWorldOptions<readonly AnyAgent[]>, 'onError' | 'clock'> {
  readonly store: Store;
  /** Wraps the model of the stage. */
  model(inner: ModelClient): ModelClient;
  /** Whether the server of tools cannot be started. */
  readonly withoutTools: boolean;
}

/** An open stage. */
export interface Stage {
  readonly world: AgentWorld;
  /** Begins the work; asked again, it is the same work. @returns how it ended, in a word */
  work(): Promise<string>;
  /** The run that a user watches, where there is one. */
  readonly run?: () => Promise<Run<unknown> | undefined>;
}

const folder = mkdtempSync(path.join(tmpdir(), 'reprise-trouble-'));
writeFileSync(path.join(folder, 'README.md'), '# A folder\n');

/** A server of tools that is not there. */
const gone = () => mcp('gone', { command: ['/no/such/server'] });

const note = defineTool({
  name: 'note',
  description: 'Notes a text.',
  args: z.strictObject({ text: z.string() }),
  run: ({ text }) => `Noted: ${text}`,
});

const twoSteps = () =>
  scriptBy(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? { text: 'Done.' }
      : { calls: [{ tool: 'note', args: { text: 'one' } }] },
  );

/** The stages by name. Each loads what it needs alone. */
export const STAGES: Readonly<Record<string, (options: StageOptions) => Promise<Stage>>> = {
  session: async ({ store, model, withoutTools, ...hooks }) => {
    const toolsets = withoutTools ? [gone()] : [];
    const agent = defineAgent({ name: 'clerk', model: 'main', instructions: 'Work.', tools: [note], toolsets });
    const world = await openWorld({ store, models: { main: model(twoSteps()) }, agents: [agent], ...hooks });
    const send = () => world.session('desk', agent).send('Go.', { id: 'm-1' });
    return {
      world,
      work: async () => (await (await send()).result()).stop.kind,
      run: () => world.session('desk', agent).run(0),
    };
  },

  tree: async ({ store, model, withoutTools, ...hooks }) => {
    const { rulesModel } = await import('../../../cli/src/tree/rules/rules-model.js');
    const { workspace } = await import('../../src/tools.js');
    const { trees } = await import('../../src/org/tree.js');
    const tools = workspace({ root: folder, readOnly: true });
    const toolsets = withoutTools ? [gone()] : [];
    const worker = defineAgent({ name: 'worker', model: 'main', instructions: 'Work.', tools, toolsets });
    const part = trees({ agents: [worker] });
    const world = await openWorld({ store, models: { main: model(rulesModel()) }, parts: [part], ...hooks });
    const start = () => world.part(part).start('survey', { goal: 'What is in this folder?', asks: 'default' });
    return { world, work: async () => (await (await start()).result()).status };
  },

  team: async ({ store, model, withoutTools: _, ...hooks }) => {
    const { builtInSkills } = await import('../../../cli/src/team/skills.js');
    const { teamRules } = await import('../../../cli/src/team/rules/rules-model.js');
    const { team } = await import('../../src/org/specialists.js');
    const { workspace } = await import('../../src/tools.js');
    const crew = team({
      name: 'team',
      skills: builtInSkills(),
      tools: workspace({ root: folder, readOnly: true }),
      coordinator: { model: 'main', identity: 'You lead a team that answers questions about a folder.' },
      planners: ['planner'],
      dispatch: 'auto',
    });
    const world = await openWorld({ store, models: { main: model(teamRules()) }, parts: [crew], ...hooks });
    const project = () => world.part(crew).project('main');
    const work = async () => {
      await project().send('What is in this folder?', { id: 'm-1' });
      return (await project().idle()).status;
    };
    return { world, work };
  },

  swarm: async ({ store, model, withoutTools, ...hooks }) => {
    const { society } = await import('../../src/org/society.js');
    const toolsets = withoutTools ? [gone()] : [];
    const reader = defineAgent({ name: 'reader', model: 'main', instructions: 'Read.', tools: [note], toolsets });
    const part = society();
    const models = { main: model(twoSteps()) };
    const world = await openWorld({ store, models, agents: [reader], parts: [part], ...hooks });
    const office = world.part(part);
    const slot = { slot: 'reader', agent: 'reader', agentType: 'swarm-worker', task: 'Note what you see.' } as const;
    const agents = [{ ...slot, capabilities: { tools: ['note'] }, count: 2 }];
    const manifest = { swarmId: 'looking', goal: 'Look.', strategy: 'broadcast' as const, agents };
    const work = async () => {
      const ann = await office.human('ann');
      await ann.createSwarm(manifest, { id: 'looking' });
      return (await office.swarm('looking').ended()).status;
    };
    return { world, work };
  },
};
