/** Who calls: the coordinator, or a job. The kernel vouches for the sender of an event; no argument names it. */
import { jobNumberOf, key, type WaitingCall } from '@reprise/org/contracts';
import { isCoordinator, type JobRow } from '../../contracts/index.js';
import type { Delivery } from '../project/delivery.js';
import { Refused } from '../project/refused.js';

/** The agent that makes a call: the coordinator, or the specialist of a job. */
export type Caller =
  | { readonly role: 'coordinator' }
  | { readonly role: 'specialist'; readonly n: number; readonly job: JobRow };

/** The caller at an address. @throws Refused `stale_run` for a job that has ended */
export function callerAt({ ctx }: Pick<Delivery, 'ctx'>, at: WaitingCall['to']): Caller {
  const [, project] = ctx.address;
  if (isCoordinator(project, at)) return { role: 'coordinator' };
  const n = jobNumberOf(project, at);
  const job = n === undefined ? undefined : ctx.table('jobs').get(key(n));
  if (n === undefined || job === undefined) throw new Refused('stale_run');
  return { role: 'specialist', n, job };
}
