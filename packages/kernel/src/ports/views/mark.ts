import { isFilled, RepriseError, requireArgument } from '@reprise/contracts';
import type { ViewMark } from './port.js';

/**
 * Refuses changes that were computed on another mark than the current one.
 *
 * @throws RepriseError `stale_head`
 */
export function assertMark(view: string, standing: ViewMark | null, expected: ViewMark | null): void {
  requireArgument(isFilled(view), 'assertMark(view)', 'the name of a view', view);
  const same =
    standing?.seq === expected?.seq && standing?.head === expected?.head && standing?.digest === expected?.digest;
  if (same) return;
  throw new RepriseError('stale_head', 'the view has moved on since these changes were computed', {
    where: view,
    expected,
    actual: standing,
    hint: 'Read its mark again: another process updates the same views.',
  });
}
