/** `society/archive_plan@1`: the parent of an agent keeps what the agent was about, when the agent is deactivated. */
import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { itemOrigin, memoryWrite, storeAt } from '@reprise/memory/contracts';
import { archivedAgent, societyArchive } from '../contracts/archive.js';
import { itemIdOf } from '../contracts/memory-calls.js';

/** `society/archive_plan@1`. */
export const archivePlan = planOnUse('society/archive_plan@1', () =>
  definePlan({
    name: 'society/archive_plan@1',
    input: z.strictObject({ store: z.string().max(200), origin: itemOrigin, agent: archivedAgent }),
    effects: [societyArchive, memoryWrite],
    *run({ store, origin, agent }, plan) {
      const { key } = agent;
      const composed = yield* plan.awaitReceipt(plan.emitEffect(societyArchive, agent));
      if (composed.status !== 'ok') {
        const code = composed.code ?? composed.status;
        return plan.raiseEvent({ name: 'society/Archived@1', value: { key, item: null, code } });
      }
      const item = { ...composed.payload, tags: ['archive'], type: 'session', subject_key: key };
      const operation = { op: 'store' as const, key, origin, ...item };
      const stored = yield* plan.awaitReceipt(plan.emitEffect(memoryWrite, { store, at: storeAt(store), operation }));
      const isStored = stored.status === 'ok';
      const kept = isStored ? itemIdOf(store, stored.payload.id) : null;
      const code = isStored ? null : (stored.code ?? stored.status);
      plan.raiseEvent({ name: 'society/Archived@1', value: { key, item: kept, code } });
    },
  }),
);
