/** This process as a row of the table of hosts names it, so that another process of its machine can see that it died. */
import { readFileSync, readlinkSync } from 'node:fs';

/** The text by which a process is known: the boot of its machine, its namespace of numbers, its number and its start. */
export function thisProcess(): string {
  return [bootOf(), namespaceOf(), String(process.pid), startOf(process.pid) ?? ''].join(' ');
}

/**
 * Whether a process has certainly died: it ran on this machine since the same boot, in the same namespace, and its
 * number has no process now, or a later one. False where this machine cannot tell.
 */
export function hasDied(known: string): boolean {
  const [boot, namespace, pid, started, ...more] = known.split(' ');
  if (boot === undefined || boot === '' || boot !== bootOf() || namespace !== namespaceOf()) return false;
  if (started === undefined || started === '' || more.length > 0 || !/^[1-9]\d{0,9}$/.test(pid ?? '')) return false;
  return startOf(Number(pid)) !== started;
}

function bootOf(): string {
  return readable(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
}

function namespaceOf(): string {
  return readable(() => readlinkSync('/proc/self/ns/pid'));
}

/** The start time of a process, in the system's own units; undefined when it does not exist or is a zombie. */
function startOf(pid: number): string | undefined {
  const stat = readable(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The name of the program, in parentheses, may contain anything.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? undefined : fields[18];
}

function readable(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
