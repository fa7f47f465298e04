/** The time that a thread could have run and had no processor: on a busy machine nobody could have said anything in it. */
import { readFileSync } from 'node:fs';

/**
 * How long the calling thread has waited for a processor since it began, in milliseconds, as the kernel of Linux counts it;
 * 0 on other systems. What the thread computes, and what it waits for otherwise, is not in it.
 */
export function waitedForCpu(): number {
  try {
    const [, waited] = readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ');
    return Number(waited) / 1e6;
  } catch {
    return 0;
  }
}

/** A clock that stands still while this thread waits for a processor. */
export function ownNow(): number {
  return performance.now() - waitedForCpu();
}
