import { definePlan, planOnUse } from '@reprise/kernel/define';
import { toolsetAdopt, toolsetAdoptParams } from '../contracts/toolset.js';

/**
 * `aos.agent/toolset_adopt_plan@1`: asks a person whether the withheld tools of a toolset count from now on. Meanwhile
 * the session continues without them.
 */
export const toolsetAdoptPlan = planOnUse('aos.agent/toolset_adopt_plan@1', () =>
  definePlan({
    name: 'aos.agent/toolset_adopt_plan@1',
    input: toolsetAdoptParams,
    effects: [toolsetAdopt],
    *run(params, plan) {
      const receipt = yield* plan.awaitReceipt(plan.emitEffect(toolsetAdopt, params, { approval: {} }));
      const value = { toolset: params.toolset, approved: receipt.status === 'ok' };
      plan.raiseEvent({ name: 'aos.agent/ToolsetDecided@1', value });
    },
  }),
);
