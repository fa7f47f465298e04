/** `society/archive_plan@1`: the parent of an agent keeps what the agent was about, when the agent is deactivated. */
import * as z from '@reprise/contracts/schema';
import { itemOrigin, memoryWrite, planOf, storeAt } from '@reprise/org/contracts';
import { archivedAgent, societyArchive } from '../contracts/agent/archive.js';
import { itemIdOf } from '../contracts/memory/tools.js';
import { codeOf } from './receipt.js';

/** `society/archive_plan@1`: has the archive of an agent written. */
export const archivePlan = planOf('society/archive_plan@1', () => ({
  input: z.strictObject({ store: z.string().max(200), origin: itemOrigin, agent: archivedAgent }),
  effects: [societyArchive, memoryWrite],
  *run({ store, origin, agent }, plan) {
    const { key } = agent;
    const composed = yield* plan.awaitReceipt(plan.emitEffect(societyArchive, agent));
    if (composed.status !== 'ok')
      return plan.raiseEvent({ name: 'society/Archived@1', value: { key, item: null, code: codeOf(composed) } });
    const item = { ...composed.payload, tags: ['archive'], type: 'session', subject_key: key };
    const operation = { op: 'store' as const, key, origin, ...item };
    const stored = yield* plan.awaitReceipt(plan.emitEffect(memoryWrite, { store, at: storeAt(store), operation }));
    const kept = stored.status === 'ok' ? itemIdOf(store, stored.payload.id) : null;
    plan.raiseEvent({ name: 'society/Archived@1', value: { key, item: kept, code: codeOf(stored) } });
  },
}));
