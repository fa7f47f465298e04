/*
 * What organizations do, as drives: each does one thing from its request to its outcome, with scripted models. Bundled
 * with the sources of a commit, so only names of the front door that every commit compared here has.
 */
import { defineAgent, defineTool, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { society } from 'reprise/society';
import { skill, team } from 'reprise/specialists';
import { trees } from 'reprise/tree';
import * as z from 'zod';

/** A step that calls tools. */
const call = (...calls) => ({ calls: calls.map(([tool, args]) => ({ tool, args })) });

const look = defineTool({
  name: 'look',
  description: 'Looks at a shelf.',
  args: z.strictObject({ shelf: z.string() }),
  guarantee: 'idempotent',
  run: ({ shelf }) => `${shelf}: green tea`,
});

/**
 * Drives by name. `models` and `tools` are the calls of one drive: its floor makes as many.
 *
 * @type {Record<string, { models: number, tools: number, open: () => Promise<Stage> }>}
 * @typedef {{ store: object, world: object, drive: (n: number) => Promise<unknown> }} Stage the nth drive ends when its
 *   outcome is there
 */
export const DRIVES = {
  tree: { models: 8, tools: 5, open: openTree },
  register: { models: 2, tools: 1, open: openSociety },
  task: { models: 5, tools: 2, open: openTeam },
};

async function openTree() {
  const main = scriptBy(({ last, messages }) => {
    if (last.includes('"accepted":true')) return { text: 'Done.' };
    const prompt = messages.findLast(({ text }) => text.startsWith('You are node'))?.text ?? '';
    if (prompt.includes('Results of your children')) return call(['complete', { result: 'Tea for two, at five.' }]);
    if (prompt.includes('You are node #2')) return call(['complete', { result: 'There is green tea.' }]);
    if (prompt.includes('You are node #3')) return call(['complete', { result: 'Five suits both.' }]);
    if (messages.at(-1)?.role === 'tool') return { text: 'I go on when they have ended.' };
    return call(
      ['spawn', { goal: 'Look for tea', prompt: 'Which tea is there?' }],
      ['spawn', { goal: 'Find a time', prompt: 'When?' }],
    );
  });
  const host = defineAgent({ name: 'host', model: 'main', instructions: 'Invite people.' });
  const part = trees({ agents: [host] });
  const { store, world } = await opened({ models: { main }, parts: [part] });
  const drive = async (n) => {
    const tree = await world.part(part).start(`tea-${n}`, { goal: 'Invite Ada to tea' });
    expectText((await tree.result()).text, 'Tea for two, at five.');
  };
  return { store, world, drive };
}

async function openSociety() {
  const part = society();
  const { store, world } = await opened({ models: {}, parts: [part] });
  const ann = await world.part(part).human('ann');
  const capabilities = { tools: ['look'], ttl_seconds: 3_600 };
  const drive = async (n) => {
    const { agent_id } = await ann.register(
      { agentType: 'custom', displayName: 'Tea', capabilities },
      { id: `tea-${n}` },
    );
    expectText(typeof agent_id, 'string');
  };
  return { store, world, drive };
}

async function openTeam() {
  const main = scriptBy(({ system, messages }) => {
    const begun = messages.findLastIndex(({ role }) => role === 'user');
    const answered = messages.slice(begun + 1).filter(({ role }) => role === 'assistant').length;
    if (system.includes('# Your skill: worker'))
      return answered === 0 ? call(['look', { shelf: 'left' }]) : { text: 'There is green tea.' };
    if (!messages[begun].text.includes('Look for tea')) return { text: 'There is tea.' };
    return answered === 0 ? call(['spawn_agent', { task: 'Look at the shelf', skill: 'worker' }]) : { text: 'Begun.' };
  });
  const kitchen = team({
    name: 'kitchen',
    skills: [skill({ name: 'worker', description: 'Looks at shelves', tools: ['look'], body: 'Look, and say it.' })],
    tools: [look],
    coordinator: { model: 'main', identity: 'You coordinate a kitchen.' },
  });
  const { store, world } = await opened({ models: { main }, parts: [kitchen] });
  const drive = async (n) => {
    const project = world.part(kitchen).project(`tea-${n}`);
    await project.send('Look for tea', { id: `message-${n}` });
    expectText((await project.idle({ within: '30s' })).status, 'done');
  };
  return { store, world, drive };
}

/**
 * The floor of a drive: a session without any organization that makes as many model calls and tool calls. One run calls
 * the tools, one a step; what is left of the model calls are runs of one answer.
 */
export async function openFloor({ models, tools }) {
  const main = scriptBy(({ messages }) => {
    const begun = messages.findLastIndex(({ role }) => role === 'user');
    const answered = messages.length - begun - 1;
    const isWork = messages[begun].text.includes('Look') && answered < 2 * tools;
    return isWork ? call(['look', { shelf: 'left' }]) : { text: 'There is green tea.' };
  });
  const agent = defineAgent({ name: 'host', model: 'main', instructions: 'Invite people.', tools: [look] });
  const { store, world } = await opened({ models: { main }, agents: [agent] });
  const drive = async (n) => {
    const session = world.session(`tea-${n}`, agent);
    for (let run = 0; run < models - tools; run++) {
      const sent = await session.send(run === 0 ? 'Look for tea' : 'And now?', { id: `message-${run}` });
      expectText(await sent.text(), 'There is green tea.');
    }
  };
  return { store, world, drive };
}

async function opened(options) {
  const store = memory();
  return { store, world: await openWorld({ store, ...options }) };
}

function expectText(actual, expected) {
  if (actual !== expected) throw new Error(`the drive ended with ${actual}, not with ${expected}`);
}
