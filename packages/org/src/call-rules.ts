/** The policy rules by which an owner and the cell of the app that answers its calls reach each other. */
import { type Address, formatAddress, type PolicyRule } from '@reprise/contracts';
import { sendText } from '@reprise/kernel';

/**
 * Lets the cells of an owner pass calls on to a cell of the app, and that cell answer them: two rules, one each way.
 *
 * @param owner the reducer of the cells that pass calls on
 * @param calls the cell of the app; no rules without one
 * @example policy: [...callRules('tree/Tree@1', ['desk/Desk@1', 'd'])]
 */
export function callRules(owner: string, calls: Address | null | undefined): readonly PolicyRule[] {
  if (calls === null || calls === undefined) return [];
  return [
    { send: sendText(calls, '*'), who: `cell:${owner}/*`, decision: 'allow' },
    { send: `${owner}/*`, who: `cell:${formatAddress(calls)}`, decision: 'allow' },
  ];
}
