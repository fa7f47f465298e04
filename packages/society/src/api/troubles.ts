/** Which cells belong to an entity, a swarm or a society, and the troubles that hold them up. */
import { type AgentWorld, isBelow, stallsOf } from '@reprise/agent';
import type { Address } from '@reprise/contracts';
import type { Trouble } from '@reprise/kernel';
import { CellReader } from '@reprise/org';
import { STORE, storeAt } from '@reprise/org/contracts';
import {
  entityAt,
  GROUP,
  groupAt,
  SWARM,
  type SwarmState,
  storeOf,
  swarmAt,
  swarmReducer,
  type swarmTables,
} from '../pure/index.js';

type IsMeant = (cell: Address) => boolean;

/** The cells of an entity: its own, its hot context, its stores, its sessions and their work. A group may have its id. */
export function cellsOfEntity(id: string): IsMeant {
  const isNamed = isBelow([id, storeOf.notes(id), storeOf.private(id)]);
  return (cell) => isNamed(cell) && cell[0] !== GROUP && cell[0] !== SWARM;
}

/** The cells of a swarm: itself, its group with its store, and those of the agents that it made. */
export async function cellsOfSwarm({ kernel }: AgentWorld, id: string): Promise<IsMeant> {
  const state = await kernel.state([swarmReducer, id]);
  const own = [
    swarmAt(id),
    ...(state === undefined ? [] : [groupAt(state.group), storeAt(storeOf.group(state.group))]),
  ];
  const members = await new CellReader<SwarmState, typeof swarmTables>(kernel, swarmAt(id)).all('members');
  const isAgents = members.flatMap(([, { agent_id }]) => (agent_id === null ? [] : [cellsOfEntity(agent_id)]));
  return ([reducer, key]) =>
    own.some((one) => one[0] === reducer && one[1] === key) || isAgents.some((isMeant) => isMeant([reducer, key]));
}

/** The troubles that hold up a swarm. */
export function troublesOfSwarm(world: AgentWorld, id: string): Promise<readonly Trouble[]> {
  return troublesOf(world, () => cellsOfSwarm(world, id));
}

/** The troubles that hold up a society: those of its own cells, and of what stands below its entities. */
export function troublesOfSociety(world: AgentWorld): Promise<readonly Trouble[]> {
  return troublesOf(world, async (troubles) => {
    const entities = new Set<string>();
    for (const root of new Set(troubles.flatMap(cellsIn).map(([, key]) => rootOf(key))))
      if ((await world.kernel.state(entityAt(root))) !== undefined) entities.add(root);
    return ([reducer, key]) => {
      const isOwn = reducer.startsWith('society/') || (reducer === STORE && STORES.test(key));
      return isOwn || entities.has(rootOf(key));
    };
  });
}

/** What is asked of the cells would wait for the store: its own troubles come first. */
async function troublesOf(
  world: AgentWorld,
  cells: (troubles: readonly Trouble[]) => Promise<IsMeant>,
): Promise<readonly Trouble[]> {
  const troubles = await world.trouble();
  const ofAll = stallsOf(troubles, () => false);
  return ofAll.length > 0 || troubles.length === 0 ? ofAll : stallsOf(troubles, await cells(troubles));
}

/** The reducers of a society, and the stores that it names. */
const STORES = /^(?:l1-notes|private|group|staging):/;

function cellsIn(trouble: Trouble): readonly Address[] {
  if (trouble.kind === 'cell_failed') return [trouble.where];
  return trouble.kind === 'service_failing' ? trouble.cells : [];
}

/** The entity that a key of a session, of a job or of a store names. */
function rootOf(key: string): string {
  return /^[^/~]*/.exec(key)?.[0] ?? key;
}
