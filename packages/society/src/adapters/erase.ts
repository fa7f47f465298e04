/** Executes `society.erase@1`: erases the content that a cell alone links, for good. */
import type { PartHost } from '@reprise/agent';
import { type Address, isRepriseError } from '@reprise/contracts';
import type { Adapter, AnyAdapter } from '@reprise/kernel';
import { societyErase } from '../pure/contracts/index.js';

/** The adapter of `society.erase@1`. A repetition goes on where a process died. */
export function eraseAdapter(host: Pick<PartHost, 'world'>): AnyAdapter {
  const adapter: Adapter<{ readonly cell: Address }, { readonly erased: number }> = {
    effect: societyErase as unknown as Adapter<{ readonly cell: Address }, { readonly erased: number }>['effect'],
    name: 'society.erase',
    async doExecute({ cell }, { idempotencyKey, attempt }) {
      const { kernel } = await host.world;
      let all = 0;
      for (let n = 0; ; n++) {
        const id = `///society/erase/${idempotencyKey}.${attempt}.${n}`;
        try {
          const { erased, remaining } = await kernel.erase({ cell }, { id, reason: 'the agent was removed' });
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
