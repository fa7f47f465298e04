/** What plans tell of the ends of their effects. */
import type { ReceiptOf } from '@reprise/kernel/define';

/** The code of an effect that did not end well; null for one that did. */
export function codeOf({ status, code }: Pick<ReceiptOf<unknown>, 'status' | 'code'>): string | null {
  return status === 'ok' ? null : (code ?? status);
}
