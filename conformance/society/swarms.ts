/** Swarms of scripted agents, and how much each of their agents writes and computes. */
import { defineAgent, memory, openWorld } from 'reprise';
import { scriptBy } from 'reprise/providers';
import { type SwarmManifest, society } from 'reprise/society';

/** The three strategies. */
export const STRATEGIES = ['broadcast', 'pipeline', 'hierarchical'] as const;

/** One of the three strategies. */
export type SwarmStrategy = (typeof STRATEGIES)[number];

const SWARM_ID = 'markets';
const COORDINATOR = 'boss';

/** A swarm with so many agents, its last or first one the writer or the coordinator. */
export function manifestOf(strategy: SwarmStrategy, agents: number): SwarmManifest {
  const workers = (slot: string, count: number, tools: string[] = []) => {
    return { slot, agentType: 'swarm-worker' as const, capabilities: { tools }, count };
  };
  const common = { swarmId: SWARM_ID, goal: 'Compare markets', strategy } as const;
  const culture = { broadcast_eagerness: 'moderate' } as const;
  if (strategy === 'broadcast') return { ...common, culture, agents: [workers('scout', agents)] };
  if (strategy === 'pipeline')
    return { ...common, culture, agents: [workers('scout', agents - 1), workers('writer', 1)] };
  const slots = [workers(COORDINATOR, 1, ['swarm_task']), workers('scout', agents - 1)];
  return { ...common, culture, coordinatorAgentId: { slot: COORDINATOR }, agents: slots };
}

/** The model of all agents: a coordinator delegates one task to each worker, collects, and finishes. */
function modelOf(workers: number): Parameters<typeof scriptBy>[0] {
  const task = (args: object) => ({ tool: 'swarm_task', args: { swarm_id: SWARM_ID, ...args } });
  return ({ system, messages }) => {
    if (!system.includes('Lead')) return { text: 'A market.' };
    const asked = messages.filter(({ role }) => role === 'tool').length;
    const left = Math.min(workers - asked, CALLS);
    if (left > 0)
      return { calls: Array.from({ length: left }, () => task({ action: 'delegate', slot: 'scout', task: 'Look.' })) };
    if (asked === workers) return { calls: [task({ action: 'collect' })] };
    return { calls: [task({ action: 'finish', result: 'Compared.' })] };
  };
}

/** The calls of one answer. */
const CALLS = 16;

async function openOffice(agents: number) {
  const scout = defineAgent({ name: 'scout', model: 'main', instructions: 'Look at one market.' });
  const writer = defineAgent({ name: 'writer', model: 'main', instructions: 'Report.' });
  const boss = defineAgent({ name: COORDINATOR, model: 'main', instructions: 'Lead.' });
  const part = society();
  const main = scriptBy(modelOf(agents - 1));
  const world = await openWorld({ store: memory(), models: { main }, agents: [scout, writer, boss], parts: [part] });
  return { world, ann: await world.part(part).human('ann') };
}

async function sizesOf({ kernel }: Awaited<ReturnType<typeof openOffice>>['world']) {
  let [frames, records] = [0, 0];
  for await (const frame of kernel.frames(0)) {
    frames++;
    records += frame.records.length;
    if (frame.seq >= kernel.head.seq) break;
  }
  return { frames, records };
}

/** How much a swarm of a size took, by agent. */
export interface Measured {
  readonly agents: number;
  readonly status: string;
  readonly framesEach: number;
  readonly recordsEach: number;
  readonly cpuMsEach: number;
}

/** Runs a swarm in a world of its own, and measures it. */
export async function measureSwarm(strategy: SwarmStrategy, agents: number): Promise<Measured> {
  const { world, ann } = await openOffice(agents);
  await using _ = world;
  const before = process.cpuUsage();
  const { status } = await (await ann.createSwarm(manifestOf(strategy, agents))).ended({ within: '120s' });
  const { user, system } = process.cpuUsage(before);
  const { frames, records } = await sizesOf(world);
  const cpuMsEach = (user + system) / 1_000 / agents;
  return { agents, status, framesEach: frames / agents, recordsEach: records / agents, cpuMsEach };
}

/** CPU is measured on a machine that has other work: what it may be more than it ought to. */
const CPU_NOISE = 1.25;

/** What of a larger swarm grows faster, by agent, than the logarithm of the size. */
export function growsTooFast(small: Measured, large: Measured): readonly string[] {
  const factor = Math.log2(large.agents) / Math.log2(small.agents);
  const grown = (what: 'framesEach' | 'recordsEach' | 'cpuMsEach', noise = 1) =>
    large[what] > small[what] * factor * noise;
  return [
    ...(grown('framesEach') ? ['frames'] : []),
    ...(grown('recordsEach') ? ['records'] : []),
    ...(grown('cpuMsEach', CPU_NOISE) ? ['CPU times'] : []),
  ];
}
