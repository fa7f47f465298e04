/** The span of a client, which a message keeps. */
import { traceParent } from '@reprise/contracts';
import type { Visit } from '../door/visit.js';

/** The span of the client. What is not valid is left out, as the format says. */
export function traceParentOf({ headers }: Pick<Visit, 'headers'>): string | undefined {
  return traceParent.safeParse(headers.get('traceparent')).data;
}
