/** One right call of each method of the handles of trees, teams, societies and hosts that changes or asks for something. */
import { defineOperation, Fleet } from '@reprise/fleet';
import { type AgentWorld, defineAgent, memory, openWorld } from 'reprise';
import { type Host, memoryDirectory, openHost } from 'reprise/host';
import { script } from 'reprise/providers';
import { society } from 'reprise/society';
import { team } from 'reprise/specialists';
import { trees } from 'reprise/tree';
import * as z from 'zod';
import type { RightCall } from './wrong-kinds.js';

const helper = defineAgent({ name: 'helper', model: 'main', instructions: 'Help.' });
const forest = trees({ agents: [helper] });
const dev = team({
  name: 'dev',
  ...{ skills: [], tools: [], dispatch: 'auto' },
  coordinator: { model: 'main', identity: 'You coordinate the team of this test.' },
});
const office = society();

/** A world with a tree, a project, an entity, a group and a swarm's handle, and a host. */
export async function handles() {
  const main = script();
  const parts = [forest, dev, office];
  const world = await openWorld({
    ...{ store: memory(), models: { main }, agents: [helper], parts, drive: 'manual', onError: () => undefined },
  } as never);
  const host = await openHost({
    ...{ directory: memoryDirectory(), store: () => memory(), open: () => openWorld({ store: memory(), models: {} }) },
  } as never);
  return { world: world as AgentWorld, host: host as Host<never> };
}

const order = defineOperation({ name: 'shop/order@1', input: z.strictObject({}), output: z.null(), run: () => null });

/** A process that has not joined its fleet: what is wrong is refused before anything is asked of the database. */
const fleet = new Fleet({
  ...{
    database: 'postgres://localhost/none',
    secret: 'x'.repeat(32),
    open: () => openWorld({ store: memory(), models: {} }),
  },
  operations: [order],
} as never);

const sent = { id: 'x-1', as: 'human:ann' };

/** Their methods. */
export async function handleMethods({
  world,
  host,
}: Awaited<ReturnType<typeof handles>>): Promise<readonly RightCall[]> {
  const all = world.part(forest);
  const tree = all.tree('t');
  const projects = world.part(dev);
  const project = projects.project('p');
  const home = world.part(office);
  const [entity, group, swarm] = [home.entity('ann'), home.group('g'), home.swarm('s')];
  const on = (kind: string, thing: object, name: string, args: readonly unknown[], more: Partial<RightCall> = {}) => {
    const call = (thing as Record<string, unknown>)[name] as (...given: unknown[]) => unknown;
    return { name: `${kind}.${name}`, call: (...given: unknown[]) => call.apply(thing, given), args, ...more };
  };
  return [
    on('trees', all, 'start', ['t', { goal: 'Go.', prompt: 'Go.', labels: { a: 'b' } }, sent], { needed: 2 }),
    on('trees', all, 'tree', ['t']),
    on('trees', all, 'all', [{ label: { a: 'b' }, limit: 10, after: 't', status: 'running' }], { needed: 0 }),
    on('tree', tree, 'revive', [sent], { needed: 0 }),
    on('tree', tree, 'nodes', [{ under: 1, after: 1, limit: 10 }], { needed: 0 }),
    on('tree', tree, 'node', [1]),
    on('tree', tree, 'events', [{ after: 1, follow: false, signal: AbortSignal.abort() }], { needed: 0 }),
    on('tree', tree, 'answer', [1, 'yes', sent], { needed: 2, free: ['1'] }),
    on('tree', tree, 'stop', [1, sent], { needed: 1 }),
    on('tree', tree, 'pause', [1, sent], { needed: 1 }),
    on('tree', tree, 'resume', [1, sent], { needed: 1 }),
    on('tree', tree, 'retry', [1, { ...sent, fresh: true, budget: { tokens: 5 } }], { needed: 1 }),
    on('tree', tree, 'add', [1, { goal: 'Go.', prompt: 'Go.', priority: 1 }, sent], { needed: 2 }),
    on('tree', tree, 'modify', [1, { goal: 'Go.', prompt: 'Go.', priority: 1, budget: { tokens: 5 } }, sent], {
      needed: 2,
    }),
    on('tree', tree, 'restrict', [1, { may: { tool: ['a'] } }, sent], { needed: 2 }),
    on('tree', tree, 'tell', [1, 'Hello.', sent], { needed: 2 }),
    on('tree', tree, 'limit', [{ budget: { tokens: 5 } }, sent], { needed: 1 }),
    on('projects', projects, 'project', ['p']),
    on('projects', projects, 'all', [{ status: 'open', limit: 10, after: 'p' }], { needed: 0 }),
    on('project', project, 'revive', [sent], { needed: 0 }),
    on('project', project, 'send', ['Hello.', { ...sent, priority: 1, pin: true }], { needed: 1 }),
    on('project', project, 'plan', [[], sent], { needed: 1 }),
    on('project', project, 'tasks', [{ status: 'pending' }], { needed: 0 }),
    on('project', project, 'brief', [1]),
    on('project', project, 'results', [{ processed: true }], { needed: 0 }),
    on('project', project, 'output', [1]),
    on('project', project, 'retry', [1, { skill: 'a', model: 'main', note: 'Again.' }, sent], { needed: 1 }),
    on('project', project, 'skip', [1, 'Enough.', sent], { needed: 2 }),
    on('project', project, 'cancel', [1, 'Enough.', sent], { needed: 1 }),
    on('project', project, 'limit', [{ tokens: 5 }, sent], { needed: 1 }),
    on('project', project, 'idle', [{ within: '1s' }], { needed: 0 }),
    on('society', home, 'entity', ['ann']),
    on('society', home, 'group', ['g']),
    on('society', home, 'swarm', ['s']),
    on('society', home, 'human', ['ann', { tools: ['a'] }], { needed: 1 }),
    on('entity', entity, 'revive', [sent], { needed: 0 }),
    on('entity', entity, 'register', [{ agentType: 'custom', displayName: 'A', capabilities: {} }, sent], {
      needed: 1,
    }),
    on('entity', entity, 'agents', [{ status: ['active'], limit: 10 }], { needed: 0 }),
    on('entity', entity, 'capabilities', ['a', {}, sent], { needed: 1 }),
    on('entity', entity, 'setStatus', ['a', 'suspend', sent], { needed: 2 }),
    on('entity', entity, 'send', [helper, 'Hello.', sent], {
      needed: 2,
      loose: [0],
      free: Object.keys(helper).map((f) => `0.${f}`),
    }),
    on('entity', entity, 'createSwarm', [{ goal: 'G', strategy: 'broadcast', agents: [] }, sent], { needed: 1 }),
    on('entity', entity, 'use', ['agent_list', {}, sent], { needed: 2 }),
    on('group', group, 'open', [{ owner: 'ann', culture: {} }], { needed: 0 }),
    on('group', group, 'join', ['ann', 'member', sent], { needed: 1 }),
    on('group', group, 'leave', ['ann', sent], { needed: 1 }),
    on('group', group, 'emcon', [true, sent], { needed: 1 }),
    on('group', group, 'end', ['archive', sent], { needed: 1 }),
    on('swarm', swarm, 'revive', [sent], { needed: 0 }),
    on('swarm', swarm, 'result', [1]),
    on('swarm', swarm, 'ended', [{ within: '1s' }], { needed: 0 }),
    on('swarm', swarm, 'disband', ['archive', sent], { needed: 0 }),
    on(
      'fleet',
      fleet,
      'call',
      ['w', order, {}, { ...sent, actor: { kind: 'program', id: 'p' }, within: 10, signal: AbortSignal.abort() }],
      { needed: 3, loose: [1], free: ['2'] },
    ),
    on('fleet', fleet, 'post', ['w', order, {}, { ...sent, actor: { kind: 'program', id: 'p' } }], {
      needed: 3,
      loose: [1],
      free: ['2'],
    }),
    on('fleet', fleet, 'answer', ['w', order, { ...sent, within: 10, signal: AbortSignal.abort() }], { loose: [1] }),
    on(
      'fleet',
      fleet,
      'follow',
      ['w', { from: 1, atLeast: 1, within: 10, pollMs: 10, patienceMs: 10, signal: AbortSignal.abort() }],
      {
        needed: 1,
      },
    ),
    on('fleet', fleet, 'close', [{ within: 10 }], { needed: 0 }),
    on('host', host, 'use', ['w', () => undefined]),
    on('host', host, 'lease', ['w']),
    on('host', host, 'worlds', [{ limit: 10 }]),
    on('host', host, 'close', [{ within: 10 }], { needed: 0 }),
  ];
}
