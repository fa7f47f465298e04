/** Reports code of an app that failed while a call was judged: what is decided in its place ends nothing, and says nothing. */
import { isRepriseError, RepriseError } from '@reprise/contracts';
import type { InTime, NotInTime } from './in-time.js';
import { type Checked, messageOf } from './schema.js';

/** Takes the report; absent where nobody listens. */
export type Report = ((error: unknown) => void) | undefined;

/** Errors of the store under the code, which is not to blame. */
const OF_STORE = ['store_full', 'store_failed', 'fenced', 'world_closed'] as const;

/** Reports that code failed, unless nobody waited for it any more. */
export function reportFailed(what: string, { why, error, isStopped }: NotInTime, report: Report): void {
  if (isStopped === true) return;
  if (OF_STORE.some((code) => isRepriseError(error, code))) return report?.(error);
  report?.(
    new RepriseError('definition_failed', `${what} failed`, {
      actual: why,
      ...(error === undefined ? {} : { cause: error }),
      hint: 'The safe decision was taken in its place. Correct the code: a rule that cannot be asked makes each call wait for a person.',
    }),
  );
}

/** Reports a schema that failed; values that do not fit one are what it is for. */
export function reportSchema(what: string, checked: InTime<Checked>, report: Report): void {
  if (!checked.ok) return reportFailed(what, checked, report);
  const { value } = checked;
  if (value.ok || value.error === undefined) return;
  reportFailed(what, { ok: false, why: messageOf(value.error), error: value.error }, report);
}
