import * as z from '@reprise/contracts/schema';
import { definePlan, planOnUse, type ReceiptOf } from '@reprise/kernel/define';
import { stepFence } from '../contracts/session.js';
import {
  type ToolsetNews,
  type ToolsetRefreshParams,
  type ToolsetRefreshReceipt,
  toolsetRefresh,
  toolsetRefreshParams,
} from '../contracts/toolset.js';
import { failureOf } from './fence.js';

/** How long refreshing all toolsets of a session may take, including the start of their servers. */
const REFRESH_TIMEOUT_MS = 2 * 60_000;

/**
 * `aos.agent/toolset_refresh_plan@1`: reports the current offers of a session's toolsets before its next step. A
 * toolset that does not answer is unreachable; that ends no run.
 */
export const toolsetRefreshPlan = planOnUse('aos.agent/toolset_refresh_plan@1', () =>
  definePlan({
    name: 'aos.agent/toolset_refresh_plan@1',
    input: z.strictObject({ ...stepFence, params: toolsetRefreshParams }),
    effects: [toolsetRefresh],
    *run({ session_epoch, step_epoch, params }, plan) {
      const handle = plan.emitEffect(toolsetRefresh, params, { timeoutMs: REFRESH_TIMEOUT_MS });
      const toolsets = newsOf(params, yield* plan.awaitReceipt(handle));
      plan.raiseEvent({ name: 'aos.agent/ToolsetsRefreshed@1', value: { session_epoch, step_epoch, toolsets } });
    },
  }),
);

function newsOf({ toolsets }: ToolsetRefreshParams, receipt: ReceiptOf<ToolsetRefreshReceipt>): ToolsetNews[] {
  if (receipt.status === 'ok') return receipt.payload.toolsets;
  const { code } = failureOf(receipt);
  return toolsets.map(({ name }) => ({ status: 'unreachable', toolset: name, code }));
}
