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
  const now = startOf(Number(pid));
  return now === undefined ? isGone(Number(pid)) : now !== started;
}

/** Whether no process has a number. A process of another user that the system hides is not gone. */
function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function bootOf(): string {
  return readable(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
}

function namespaceOf(): string {
  return readable(() => readlinkSync('/proc/self/ns/pid'));
}

/** The start time of a process, in the system's own units, `ended` for a zombie; undefined when the system shows none. */
function startOf(pid: number): string | undefined {
  const stat = readable(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The name of the program, in parentheses, may contain anything.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' || state === 'X' ? 'ended' : fields[18];
}

function readable(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
