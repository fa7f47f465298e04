import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { composedSection, workCompose } from '@reprise/org/contracts';
import { lookAtTeam } from '../contracts/effects.js';
import { PROJECT_BOUNDS } from '../contracts/names.js';
import { resultNumber } from '../contracts/rows.js';
import { knownTeam, readAll } from './read.js';

/** The bytes of the text that wakes a coordinator. */
const WAKE_BYTES_MAX = 32_000;

/** `specialists/wake_plan@1`: composes what the coordinator is told, and reads its team meanwhile. */
export const wakePlan = planOnUse('specialists/wake_plan@1', () =>
  definePlan({
    name: 'specialists/wake_plan@1',
    input: z.strictObject({
      epoch: z.int().min(0),
      results: z.array(resultNumber).max(PROJECT_BOUNDS.shown),
      sections: z.array(composedSection).max(4),
      ...knownTeam.shape,
    }),
    effects: [workCompose, lookAtTeam],
    *run({ epoch, results, sections, ...known }, plan) {
      const asked = plan.emitEffect(workCompose, { sections, bytes_max: WAKE_BYTES_MAX });
      yield* readAll(plan, known);
      const composed = yield* plan.awaitReceipt(asked);
      const isOk = composed.status === 'ok';
      const text_ref = isOk ? composed.payload.text_ref : null;
      const code = isOk ? null : (composed.code ?? composed.status);
      plan.raiseEvent({ name: 'specialists/WakeComposed@1', value: { epoch, results, text_ref, code } });
    },
  }),
);
