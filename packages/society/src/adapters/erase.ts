/** Executes `society.erase@1`: erases what the hot context of a removed agent links, for good. */
import { type PartHost, SESSION_REDUCER } from '@reprise/agent';
import { type Address, isRepriseError } from '@reprise/contracts';
import { type AnyAdapter, adapterOf, type EraseReport, type World } from '@reprise/kernel';
import {
  type EntityState,
  type ErasedContent,
  entityAt,
  KEEPERS_MAX,
  SOCIETY_BOUNDS,
  societyErase,
} from '../pure/contracts/index.js';
import { sessionKey } from '../pure/reducer/rights/session.js';

/** The adapter of `society.erase@1`. A repetition goes on where a process died. */
export function eraseAdapter(host: Pick<PartHost, 'world'>): AnyAdapter {
  return adapterOf(societyErase, {
    name: 'society.erase',
    async doExecute({ agent, cell }, { idempotencyKey, attempt }) {
      const { kernel } = await host.world;
      const target = { cell, passedBy: await passingCells(kernel, agent) };
      let erased = 0;
      for (let n = 0; ; n++) {
        const id = `///society/erase/${idempotencyKey}.${attempt}.${n}`;
        try {
          const report = await kernel.erase(target, { id, reason: 'the agent was removed' });
          erased += report.erased;
          if (report.remaining === 0) return { status: 'ok', payload: { erased, ...keptOf(report) } };
        } catch (error) {
          if (isRepriseError(error, 'cell_absent')) return { status: 'ok', payload: { erased, kept: 0, kept_by: [] } };
          throw error;
        }
      }
    },
  });
}

function keptOf({ shared, keptBy }: EraseReport): Omit<ErasedContent, 'erased'> {
  return { kept: shared.length, kept_by: keptBy.slice(0, KEEPERS_MAX) };
}

/**
 * The cells through which the content of a hot context comes and goes: the agent itself and its sessions, by whose calls
 * it is written, and the entities above, which read it. They do not keep it; a store that has an item with it does, since
 * a write to a store is an event of the store as well.
 */
async function passingCells(kernel: Pick<World, 'state' | 'table'>, agent: string): Promise<readonly Address[]> {
  const sessions = await kernel.table(entityAt(agent), 'sessions', { limit: SOCIETY_BOUNDS.sessions });
  const cells = sessions.map(([name]): Address => [SESSION_REDUCER, sessionKey(agent, name)]);
  for (let id: string | null = agent; id !== null; ) {
    const entity = entityAt(id);
    cells.push(entity);
    id = ((await kernel.state(entity)) as EntityState | undefined)?.parent_entity_id ?? null;
  }
  return cells;
}
