/** What every error says of a cell that has failed. */
import { type Address, type ErrorDetails, formatAddress } from '@reprise/contracts';
import type { FailedLeaf } from './leaves.js';

/** Which cell has failed, on what, in which frame, and what to do: the same for one that speaks to it as for one that waits. */
export function detailsOfFailure(
  failed: Address,
  { code, seq, event }: Pick<FailedLeaf, 'code' | 'seq' | 'event'>,
): ErrorDetails {
  const cell = formatAddress(failed);
  return {
    where: cell,
    fault: code,
    frame: seq,
    actual: `${event} ended in the fault ${code}, in frame ${seq}`,
    hint: `Fix the cause, then revive it: \`world.revive\`, or \`reprise revive WORLD ${cell}\`.`,
  };
}
