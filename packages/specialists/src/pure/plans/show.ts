import { ref, value } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse } from '@reprise/kernel/define';
import { composedSection, waitingCall, workCompose } from '@reprise/org/contracts';
import { readResult } from '../contracts/effects.js';
import { PROJECT_BOUNDS } from '../contracts/names.js';

/** The bytes of a list that a call is answered with. */
const LIST_BYTES_MAX = 16_000;

/** `specialists/list_plan@1`: composes a list of results for a call. */
export const listPlan = planOnUse('specialists/list_plan@1', () =>
  definePlan({
    name: 'specialists/list_plan@1',
    input: z.strictObject({ call: waitingCall, sections: z.array(composedSection).max(4), value: value() }),
    effects: [workCompose],
    *run({ call, sections, value: told }, plan) {
      const composed = yield* plan.awaitReceipt(plan.emitEffect(workCompose, { sections, bytes_max: LIST_BYTES_MAX }));
      const isOk = composed.status === 'ok';
      const refs = isOk ? [{ label: 'results', ref: composed.payload.text_ref }] : [];
      const code = isOk ? null : (composed.code ?? composed.status);
      plan.raiseEvent({ name: 'specialists/Answered@1', value: { call, value: told, refs, code } });
    },
  }),
);

/** `specialists/show_plan@1`: reads a piece of a result for a call. */
export const showPlan = planOnUse('specialists/show_plan@1', () =>
  definePlan({
    name: 'specialists/show_plan@1',
    input: z.strictObject({
      call: waitingCall,
      result: z.int().min(1),
      output_ref: ref(),
      offset: z.int().min(0),
      bytes: z.int().min(1).max(PROJECT_BOUNDS.read_bytes),
    }),
    effects: [readResult],
    *run({ call, result, output_ref, offset, bytes }, plan) {
      const read = yield* plan.awaitReceipt(plan.emitEffect(readResult, { output_ref, offset, bytes }));
      if (read.status !== 'ok') {
        const code = read.code ?? read.status;
        plan.raiseEvent({ name: 'specialists/Answered@1', value: { call, value: null, refs: [], code } });
        return;
      }
      const { text_ref, next_offset, total_bytes } = read.payload;
      const next = next_offset === null ? {} : { next_offset };
      const told = { result_id: result, total_bytes, ...next };
      const refs = [{ label: `agent_result:${result}`, ref: text_ref }];
      plan.raiseEvent({ name: 'specialists/Answered@1', value: { call, value: told, refs, code: null } });
    },
  }),
);
