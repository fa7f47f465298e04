import type { Adapter } from '@reprise/kernel';
import { deferEffect } from '@reprise/kernel/world';
import { type HumanAskParams, type HumanAskReceipt, humanAsk } from '../../contracts/tool-call.js';

/**
 * The adapter of `human.ask@1`: defers a question at once. A permitted principal settles it; its deadline is the
 * effect's.
 */
export const humanAskAdapter: Adapter<HumanAskParams, HumanAskReceipt> = {
  effect: humanAsk,
  name: 'reprise.human',
  doExecute: async ({ to }) => deferEffect(to === undefined ? {} : { to }),
};
