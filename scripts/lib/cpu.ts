/**
 * What work costs in CPU time. A test bounds this and not the time of the wall: a machine that is busy with other things,
 * or that stands still for a while, adds nothing to it.
 */

/** The CPU time of this process so far, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The CPU time of this process while some work runs, in milliseconds. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = cpuMs();
  await work();
  return cpuMs() - before;
}
