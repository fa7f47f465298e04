/**
 * The owner of a swarm as a process: opens the world of a file, has the swarm created under one id, and says how it ended.
 *
 *   node owner.mjs FILE KEYS STRATEGY AGENTS [forgets]
 *
 * With `forgets` it creates a swarm anew each time it starts, as an owner without ids would: a mistake that is to be found.
 * It then says that it is open when its swarm exists, so that each kill leaves a swarm behind.
 */
import { type AgentWorld, defineAgent, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { fileVault, groupTools, society } from 'reprise/society';
import { sqlite } from 'reprise/sqlite';
import type { SwarmEnd } from './kill.js';
import { manifestOf, type SwarmStrategy } from './swarms.js';

const [, , file = '', keys = '', strategy = 'broadcast', agents = '3', forgets] = process.argv;
const BOSS = 'boss';
const WORKERS = Number(agents) - 1;
const SWARM_ID = forgets === undefined ? 'markets' : `markets-${Date.now()}`;

const OVER: ReadonlySet<string> = new Set(['archived', 'disbanded', 'failed']);

/** The calls of one answer. */
const CALLS = 16;

/** Each agent writes one item to the group and then speaks; a coordinator delegates to each worker, collects, and finishes. */
const main = scriptBy(({ system, messages }) => {
  const answered = messages.filter(({ role }) => role === 'tool').length;
  if (answered === 0) {
    const item = { type: 'note', visibility: 'group', group: SWARM_ID, content: 'A market.' };
    return { calls: [{ tool: 'memory_write_warm', args: item }] };
  }
  if (!system.includes('Lead')) return { text: 'A market.' };
  const task = (args: object) => ({ tool: 'swarm_task', args: { swarm_id: SWARM_ID, ...args } });
  const left = Math.min(WORKERS - (answered - 1), CALLS);
  if (left > 0)
    return { calls: Array.from({ length: left }, () => task({ action: 'delegate', slot: 'scout', task: 'Look.' })) };
  if (answered === WORKERS + 1) return { calls: [task({ action: 'collect' })] };
  return { calls: [task({ action: 'finish', result: 'Compared.' })] };
});

const part = society({ keys: fileVault(keys) });
const named = (name: string, instructions: string) =>
  defineAgent({ name, model: 'main', instructions, tools: [...groupTools] });
await using world = await openWorld({
  store: sqlite(file),
  models: { main },
  agents: [named('scout', 'Look at one market.'), named('writer', 'Report.'), named(BOSS, 'Lead.')],
  parts: [part],
});
if (forgets === undefined) console.log('open');
const ann = await world.part(part).human('ann');
const { agents: slots, ...rest } = manifestOf(strategy as SwarmStrategy, Number(agents));
const withTools = slots.map((slot) => ({
  ...slot,
  capabilities: { ...slot.capabilities, tools: [...(slot.capabilities.tools ?? []), 'memory_write_warm'] },
}));
const swarm = await ann.createSwarm({ ...rest, swarmId: SWARM_ID, agents: withTools }, { id: SWARM_ID });
if (forgets !== undefined) console.log('open');
const { status } = await swarm.ended({ within: '120s' });
console.log(`ended ${JSON.stringify(await endOf(world, status))}`);

/** What the whole journal says of swarms. */
async function endOf({ kernel }: AgentWorld, status: string): Promise<SwarmEnd> {
  const completed = new Map<string, number>();
  const made = new Set<string>();
  let ends = 0;
  for await (const { seq, records } of kernel.frames(0)) {
    for (const record of records) {
      if (record.kind !== 'fact') continue;
      const value = record.value as Record<string, unknown>;
      if (record.name === 'society/SwarmChanged@1' && OVER.has(String(value.status))) ends++;
      if (record.name === 'society/TaskCompleted@1' && value.status === 'ok')
        completed.set(String(value.agent_id), (completed.get(String(value.agent_id)) ?? 0) + 1);
      if (record.name === 'society/Registered@1' && value.kind === 'swarm-worker') made.add(String(value.agent_id));
    }
    if (seq >= kernel.head.seq) break;
  }
  const items = new Map<string, number>();
  for (const [, item] of await kernel.table(['memory/Store@1', `group:${SWARM_ID}`], 'items')) {
    const { author } = item as unknown as { readonly author: string };
    items.set(author, (items.get(author) ?? 0) + 1);
  }
  const { unverified } = await world.verify();
  return {
    status,
    ends,
    agents: made.size,
    results: completed.size,
    twice: [...completed.values()].filter((times) => times > 1).length,
    authors: items.size,
    itemsMost: Math.max(0, ...items.values()),
    unverified,
  };
}
