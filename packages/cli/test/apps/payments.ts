import { lab, once, tellCell } from '../../../kernel/test/support/lab.js';

/** Cells that pay: an effect that may happen once. */
export const { app } = lab({
  *pay(input, plan) {
    const { status } = yield* plan.awaitReceipt(plan.emitEffect(once, input));
    tellCell(plan, 'paid', status);
  },
});
