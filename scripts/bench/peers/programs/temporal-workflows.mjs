/** The workload as a workflow of Temporal. */
import { proxyActivities } from '@temporalio/workflow';

const { note } = proxyActivities({ startToCloseTimeout: 60_000 });

export async function work(effects) {
  let sum = 0;
  for (let n = 0; n < effects; n++) sum += (await note({ n })).n;
  return { sum };
}
