/** Who calls: the coordinator, or a job. The kernel vouches for the sender of an event; no argument names it. */
import { coordinatorOf, type JobRow, type WaitingCall } from '../contracts/index.js';
import { type Delivery, tableOf } from './delivery.js';
import { key } from './keys.js';
import { Refused } from './refused.js';

/** Who calls. */
export type Caller =
  | { readonly role: 'coordinator' }
  | { readonly role: 'specialist'; readonly n: number; readonly job: JobRow };

/** The caller at an address. @throws Refused `stale_run` for a job that has ended */
export function callerAt({ ctx }: Pick<Delivery, 'ctx'>, [reducer, at]: WaitingCall['to']): Caller {
  const coordinator = coordinatorOf(ctx.address[1]);
  if (reducer === coordinator[0] && at === coordinator[1]) return { role: 'coordinator' };
  const n = numberOfJob(ctx.address[1], at);
  const job = n === undefined ? undefined : tableOf({ ctx }, 'jobs').get(key(n));
  if (n === undefined || job === undefined) throw new Refused('stale_run');
  return { role: 'specialist', n, job };
}

function numberOfJob(project: string, at: string): number | undefined {
  const n = at.startsWith(`${project}/j`) ? Number(at.slice(project.length + 2)) : Number.NaN;
  return Number.isInteger(n) ? n : undefined;
}
