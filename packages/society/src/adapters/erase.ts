/** Executes `society.erase@1`: erases what a hot context links, for good. */
import { type PartHost, SESSION_REDUCER } from '@reprise/agent';
import { type Address, isRepriseError } from '@reprise/contracts';
import type { Adapter, AnyAdapter, PassingCells, World } from '@reprise/kernel';
import { entityAt, SOCIETY_BOUNDS, societyErase } from '../pure/contracts/index.js';
import { sessionKey } from '../pure/reducer/session-rights.js';

/** The adapter of `society.erase@1`. A repetition goes on where a process died. */
export function eraseAdapter(host: Pick<PartHost, 'world'>): AnyAdapter {
  const adapter: Adapter<{ readonly cell: Address }, { readonly erased: number }> = {
    effect: societyErase as unknown as Adapter<{ readonly cell: Address }, { readonly erased: number }>['effect'],
    name: 'society.erase',
    async doExecute({ cell }, { idempotencyKey, attempt }) {
      const { kernel } = await host.world;
      const passedBy = await passingCells(kernel, cell[1]);
      let all = 0;
      for (let n = 0; ; n++) {
        const id = `///society/erase/${idempotencyKey}.${attempt}.${n}`;
        try {
          const { erased, remaining } = await kernel.erase({ cell, passedBy }, { id, reason: 'the agent was removed' });
          all += erased;
          if (remaining === 0) return { status: 'ok', payload: { erased: all } };
        } catch (error) {
          if (isRepriseError(error, 'cell_absent')) return { status: 'ok', payload: { erased: all } };
          throw error;
        }
      }
    },
  };
  return adapter as unknown as AnyAdapter;
}

/**
 * The cells through which the content of a hot context comes and goes: the entity, those above it, and their sessions. What
 * they write to a store is kept: an agent erases no item by linking it in its hot context.
 */
async function passingCells(kernel: Pick<World, 'state' | 'table'>, agent: string): Promise<PassingCells> {
  const cells: Address[] = [];
  for (let id: string | null = agent, n = 0; id !== null && n <= SOCIETY_BOUNDS.depth; n++) {
    const entity = entityAt(id);
    const state = (await kernel.state(entity)) as { readonly parent_entity_id?: string | null } | undefined;
    const sessions = state === undefined ? [] : await kernel.table(entity, 'sessions', { limit: SOCIETY_BOUNDS.sessions });
    const of = id;
    cells.push(entity, ...sessions.map(([name]): Address => [SESSION_REDUCER, sessionKey(of, name)]));
    id = state?.parent_entity_id ?? null;
  }
  return { cells, effects: ARCHIVING };
}

/** The parent composes what the agent was about into a text of its own. */
const ARCHIVING: readonly string[] = ['work.compose@1'];
