/**
 * What `reprise show CELL --json`, `swarm.events()` and `swarm.status()` say of random swarms, beside the tables of their cells. What
 * they must say is written here from the tables alone.
 */
import { type AgentWorld, defineAgent, type WorldPart } from '@reprise/agent';
import type { JournalRecord } from '@reprise/contracts';
import { type ReadonlyStore, readFrame } from '@reprise/kernel';
import { type KeyVault, memoryVault, type Society, type SwarmReport, society } from '@reprise/society';
import { SWARM, type SwarmRow, type SwarmState, type SwarmTask } from '@reprise/society/contracts';
import { defective } from '../../../specialists/test/support/failing.js';
import { cellView } from '../../src/verbs/show-cell.js';
import { type Draw, type Histories, type Pair, type Place, tableOf } from './histories.js';
import { hashOf } from './teams.js';

const agentNamed = (name: string, instructions: string) => defineAgent({ name, model: 'main', instructions });
const AGENTS = [agentNamed('scout', 'Look.'), agentNamed('writer', 'Report.'), agentNamed('boss', 'Lead.')];

/** The keys of a history outlive its processes. */
const vaults = new Map<number, KeyVault>();

function vaultOf(seed: number): KeyVault {
  const known = vaults.get(seed) ?? memoryVault();
  vaults.set(seed, known);
  return known;
}

/** Whether cells of a history fail: then only its own app replays it, and not the built-in one. */
const isDefective = (seed: number) => seed % 3 === 0;

type Part = WorldPart<Society> & { readonly seed: number };

/** The histories of swarms. */
export const SWARMS: Histories<Part> = {
  part: (seed) => ({
    ...defective(
      { ...society({ keys: vaultOf(seed) }), agents: AGENTS },
      ({ reducer, key, event }) => isDefective(seed) && hashOf(`${seed} ${reducer} ${key} ${event}`) % 7 === 0,
    ),
    seed,
  }),
  answer(draw, { system, last }) {
    const swarm_id = /s[0-2]/.exec(`${system} ${last}`)?.[0] ?? 's0';
    const task = (args: object) => ({ calls: [{ tool: 'swarm_task', args: { swarm_id, ...args } as never }] });
    switch (draw(8)) {
      case 0:
        return task({ action: 'delegate', slot: 'scout', task: 'Look.' });
      case 1:
        return task({ action: 'collect' });
      case 2:
        return task({ action: 'finish', result: 'Compared.' });
      case 3:
        return task({ action: 'report', result: 'Seen.' });
      case 4:
        return { calls: [{ tool: 'none', args: {} }] };
      default:
        return { text: 'A market.' };
    }
  },
  async act(draw, world, part) {
    const ann = await world.part(part).human('ann');
    const handle = world.part(part).swarm(`s${draw(3)}`);
    switch (draw(8)) {
      case 0:
        return handle.disband(draw(2) === 0 ? 'archive' : 'delete');
      case 1:
        return handle.status();
      case 2: {
        const [failed] = (await world.trouble()).filter(({ kind }) => kind === 'cell_failed');
        return failed && world.kernel.revive(failed.where as never);
      }
      default:
        return ann.createSwarm(manifestOf(draw));
    }
  },
  async look(place) {
    const facts = await factsOf(place.store, place.at.head.seq);
    const pairs: Pair[] = [];
    for (const id of facts.keys()) {
      const state = (await place.world.kernel.state([SWARM, id])) as unknown as SwarmState | undefined;
      if (state === undefined) continue;
      const tasks = await tableOf<SwarmTask>(place.world, [SWARM, id], 'tasks');
      const said = facts.get(id);
      pairs.push([`events of ${id}`, said?.swarm, [state.status, OVER.includes(state.status) ? state.code : null]]);
      const ended = tasks.filter(([, { status }]) => ENDED.includes(status));
      pairs.push([
        `ended tasks of ${id}`,
        said?.tasks,
        Object.fromEntries(ended.map(([n, { agent_id, status }]) => [Number(n), [agent_id, status]])),
      ]);
      if (!isDefective(place.seed)) pairs.push(await shownCell(place, id, state));
    }
    return pairs;
  },
  async ask(place) {
    const facts = await factsOf(place.store, place.at.head.seq);
    const pairs: Pair[] = [];
    for (const id of facts.keys()) pairs.push(...(await statusOf(place, id)));
    return pairs;
  },
};

/** A swarm that is to fail knows why before it says so, once it is over. */
const OVER: readonly string[] = ['archived', 'disbanded', 'failed'];

const ENDED: readonly string[] = ['ok', 'failed', 'cancelled', 'timeout', 'skipped'];

function manifestOf(draw: Draw) {
  const strategy = (['broadcast', 'pipeline', 'hierarchical'] as const)[draw(3)] ?? 'broadcast';
  const worker = (slot: string, count: number, tools: string[] = []) => ({
    ...{ slot, agentType: 'swarm-worker' as const, capabilities: { tools }, count },
  });
  const base = {
    ...{ swarmId: `s${draw(3)}`, goal: 'Compare markets', strategy },
    culture: { broadcast_eagerness: 'moderate' as const },
    onMemberFailure: (['continue', 'restart', 'abort'] as const)[draw(3)] ?? 'continue',
    ...(draw(4) === 0 ? { budgetTokens: 200 + draw(2_000) } : {}),
  };
  if (strategy === 'broadcast') return { ...base, agents: [worker('scout', 1 + draw(3))] };
  if (strategy === 'pipeline') return { ...base, agents: [worker('scout', 1 + draw(3)), worker('writer', 1)] };
  const slots = [worker('boss', 1, ['swarm_task']), worker('scout', 1 + draw(2), ['swarm_task'])];
  return { ...base, coordinatorAgentId: { slot: 'boss' }, agents: slots };
}

/** What `reprise show CELL --json` prints, and what it must print. */
async function shownCell({ store, world, at }: Place<Part>, id: string, state: SwarmState): Promise<Pair> {
  const view = await cellView(store, [SWARM, id], { at: at.head.seq });
  const { tables, state: shown } = view.data as { readonly tables: Record<string, number>; readonly state: unknown };
  const counts: Record<string, number> = {};
  for (const name of Object.keys(tables)) counts[name] = (await tableOf(world, [SWARM, id], name)).length;
  return [`show of ${id}`, { state: shown, tables }, { state, tables: counts }];
}

/** What the handle says, and what it must say; nothing where it does not answer, since a cell has failed, or has moved on. */
async function statusOf({ world, part, settle }: Place<Part>, id: string): Promise<readonly Pair[]> {
  const before = await tablesOf(world, id);
  let report: SwarmReport | undefined;
  void world
    .part(part)
    .swarm(id)
    .status()
    .then(
      (said) => {
        report = said;
      },
      () => undefined,
    );
  for (let turn = 0; turn < 4 && report === undefined; turn++) await settle();
  const { state, members, tasks } = await tablesOf(world, id);
  if (report === undefined || JSON.stringify(before) !== JSON.stringify({ state, members, tasks })) return [];
  const { agents, results, status, strategy, code } = report;
  const slots = new Map(members.map(([at, { slot }]) => [at, slot]));
  const expected = {
    ...{ status: state.status, strategy: state.strategy, code: state.code ?? undefined },
    agents: members.flatMap(([, { slot, agent_id, status: of }]) => (agent_id === null ? [] : [[slot, agent_id, of]])),
    results: tasks.flatMap(([n, { status: of, agent_id, member }]) =>
      of === 'waiting' ? [] : [[Number(n), slots.get(member), agent_id, of]],
    ),
  };
  const said = {
    ...{ status, strategy, code },
    agents: agents.map((one) => [one.slot, one.agent_id, one.status]),
    results: results.map((one) => [one.task, one.slot, one.agent_id, one.status]),
  };
  return [[`status of ${id}`, said, expected]];
}

async function tablesOf(world: AgentWorld, id: string) {
  return {
    state: (await world.kernel.state([SWARM, id])) as unknown as SwarmState,
    members: await tableOf<SwarmRow<'members'>>(world, [SWARM, id], 'members'),
    tasks: await tableOf<SwarmTask>(world, [SWARM, id], 'tasks'),
  };
}

/** What the facts of a journal say last of each swarm. */
async function factsOf(store: ReadonlyStore, last: number) {
  const said = new Map<string, { swarm: unknown; readonly tasks: Record<string, unknown> }>();
  for await (const { seq, bytes } of store.journal.read(0, last))
    for (const record of readFrame(bytes, seq).all as readonly JournalRecord[]) {
      if (record.kind !== 'fact' || record.from?.[0] !== SWARM) continue;
      const of = said.get(record.from[1]) ?? { swarm: undefined, tasks: {} };
      said.set(record.from[1], of);
      const value = record.value as Record<string, unknown>;
      if (record.name === 'society/SwarmChanged@1') of.swarm = [value.status, value.code];
      if (record.name === 'society/TaskCompleted@1') of.tasks[String(value.task)] = [value.agent_id, value.status];
    }
  return said;
}
