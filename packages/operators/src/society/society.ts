/** Who is in a society: its people and agents, groups with their members, swarms with their slots, and trust. */

import type { Address } from '@reprise/contracts';
import { type App, type ReadonlyStore, worldAt } from '@reprise/kernel';
import { type EntityState, type GroupState, type MemberRow, scoreOf } from '@reprise/society/contracts';
import { cellsAt } from '../cells/cells-at.js';
import { REDUCERS } from '../names/reducers.js';
import { frameOf } from '../page/frames.js';
import { AT_OPTIONS, requireGivenApps, requireQuestion } from '../page/require.js';
import { entriesOf, type Reading } from './reading.js';
import type { SocietyEntity, SocietyGroup, SocietyReport, SocietyTrust } from './report.js';
import { swarmOf } from './swarms.js';

/** When the society is read. */
export interface SocietyOfOptions {
  /** The frame after which it is read; the newest one when absent. */
  readonly at?: number;
  readonly signal?: AbortSignal;
}

/**
 * Reads the society of a world after a frame. The frames since the newest snapshot are replayed, so the app must be at hand.
 *
 * @throws RepriseError `invalid_argument` when there is no such frame; the errors of `worldAt`
 */
export async function societyOf(
  store: ReadonlyStore,
  apps: { readonly app: App; readonly legacy?: readonly App[] },
  options: SocietyOfOptions = {},
): Promise<SocietyReport> {
  requireQuestion('societyOf', store, options, AT_OPTIONS);
  requireGivenApps('societyOf', apps);
  const { app, legacy = [] } = apps;
  const { at, signal } = options;
  const frame = await frameOf(store, at);
  const cells = await cellsAt(store, frame, [REDUCERS.entity, REDUCERS.group, REDUCERS.swarm], signal);
  const then = await worldAt(store, app, frame, { legacy });
  const names = new Map<string, string>();
  const states = new Map<string, EntityState>();
  for (const [reducer, id] of cells) {
    if (reducer !== REDUCERS.entity) continue;
    const state = (await then.state([reducer, id])) as unknown as EntityState | undefined;
    if (state === undefined) continue;
    names.set(id, state.display_name);
    states.set(id, state);
  }
  const reading: Reading = { then, content: store.content, named: (id) => ({ id, name: names.get(id) ?? id }) };
  return {
    frame,
    entities: [...states].map(([id, state]) => entityOf(id, state, reading)).sort(byDepth),
    groups: await Promise.all(keysOf(cells, REDUCERS.group).map((id) => groupOf(id, reading))),
    swarms: await Promise.all(keysOf(cells, REDUCERS.swarm).map((id) => swarmOf(id, reading))),
    trust: (await Promise.all([...states.keys()].map((id) => trustOf(id, reading)))).flat(),
  };
}

function keysOf(cells: readonly Address[], reducer: string): readonly string[] {
  return cells.filter(([of]) => of === reducer).map(([, key]) => key);
}

function byDepth(a: SocietyEntity, b: SocietyEntity): number {
  return a.depth - b.depth || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1);
}

function entityOf(
  id: string,
  { display_name: name, kind, status, reason, parent_entity_id: parent, depth, tier }: EntityState,
  { named }: Reading,
): SocietyEntity {
  return { id, name, kind, status, reason, parent: parent === null ? null : named(parent), depth, tier };
}

async function groupOf(id: string, { then, named }: Reading): Promise<SocietyGroup> {
  const address: Address = [REDUCERS.group, id];
  const { kind, standing, emcon } = (await then.state(address)) as unknown as GroupState;
  const rows = (await entriesOf(then, address, 'members')) as unknown as readonly [string, MemberRow][];
  const members = rows.map(([member, { role, tier }]) => ({ ...named(member), role, tier }));
  return { id, kind, standing, emcon, members };
}

async function trustOf(id: string, { then, named }: Reading): Promise<readonly SocietyTrust[]> {
  const rows = await entriesOf(then, [REDUCERS.entity, id], 'trust');
  return rows.map(([agent, row]) => {
    const { score_ppm, observations, tier } = scoreOf(id, agent, row as never);
    return { observer: named(id), agent: named(agent), score_ppm, observations, tier };
  });
}
