/** `society/archive_plan@1`: the parent of an agent keeps what the agent was about, when the agent is deactivated. */
import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { itemOrigin, memoryWrite, storeAt } from '@reprise/memory/contracts';
import { composedSection, workCompose } from '@reprise/work/contracts';

/** The bytes of an archived text. */
const ARCHIVE_BYTES_MAX = 16_000;

/** `society/archive_plan@1`. */
export const archivePlan = planOnUse('society/archive_plan@1', () =>
  definePlan({
    name: 'society/archive_plan@1',
    input: z.strictObject({
      store: z.string().max(200),
      /** The id of the archive item. */
      key: z.string().max(128),
      origin: itemOrigin,
      sections: z.array(composedSection).max(8),
    }),
    effects: [workCompose, memoryWrite],
    *run({ store, key, origin, sections }, plan) {
      const composed = yield* plan.awaitReceipt(
        plan.emitEffect(workCompose, { sections, bytes_max: ARCHIVE_BYTES_MAX }),
      );
      if (composed.status !== 'ok')
        return plan.raiseEvent({ name: 'society/Archived@1', value: { key, code: composed.code ?? composed.status } });
      const { text_ref } = composed.payload;
      const item = {
        content_ref: text_ref,
        summary_ref: text_ref,
        tags: ['archive'],
        type: 'session',
        subject_key: key,
      };
      const operation = { op: 'store' as const, key, origin, ...item };
      const stored = yield* plan.awaitReceipt(plan.emitEffect(memoryWrite, { store, at: storeAt(store), operation }));
      const code = stored.status === 'ok' ? null : (stored.code ?? stored.status);
      plan.raiseEvent({ name: 'society/Archived@1', value: { key, code } });
    },
  }),
);
