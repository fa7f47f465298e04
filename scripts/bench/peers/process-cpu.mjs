import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of a tick of the kernel's accounting (`getconf CLK_TCK` is 100 on every Linux). */
const TICK_MS = 10;

/**
 * The CPU time of processes with all their descendants, living and ended, from `/proc`.
 *
 * @param {readonly number[]} roots process ids
 * @returns {number} milliseconds, exact to 10 a process
 */
export function cpuOf(roots) {
  const processes = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = statOf(name);
    if (stat !== undefined) processes.set(Number(name), stat);
  }
  const isOurs = (pid) => roots.includes(pid) || (processes.has(pid) && isOurs(processes.get(pid).parent));
  let ticks = 0;
  for (const [pid, { used }] of processes) if (isOurs(pid)) ticks += used;
  return ticks * TICK_MS;
}

/** What a process and its ended children used, and its parent; undefined when it has just ended. */
function statOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number); // its name may have any character
    return { parent: fields[1], used: fields[11] + fields[12] + fields[13] + fields[14] };
  } catch {
    return undefined;
  }
}
