/**
 * Sees to it that no program outlives the process that started it, also when that is killed and can do nothing itself.
 *
 * A shell that waits at a pipe: what it reads there is which groups run. When the pipe ends, their owner is gone, and it
 * asks them to stop and then kills them. On Linux it also finds what left its group, by a mark in the environment that
 * every program inherits from the one that started it.
 *
 * Invariants
 * N1  One warden serves a process, in a session of its own: what kills the process, its group or its terminal spares it.
 * N2  A group is made known in the same turn in which it was started, and forgotten when nothing of it is left.
 * N3  A warden that is gone is replaced when the next program starts, and told of all that run.
 *
 * What it cannot do: on Windows there is none; beyond Linux a program that leaves its group is not found; nor is one
 * anywhere that leaves its group and clears its environment.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';

/** The variable by which programs of one process are known. */
const MARK = 'REPRISE_OWNER';

/** How long a group that was asked to stop may take when its owner is gone, in seconds. */
const GRACE_SECONDS = 1;

const SHELL = '/bin/sh';

/** `+ GROUP` and `- GROUP` on its input; its arguments are the mark of its owner and the grace. */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
while read -r how group; do
  case "$how" in
    +) groups="$groups$group " ;;
    -) case "$groups" in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
marked() { [ -d /proc/self ] && grep -lsF -e "$1" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do echo "$pid"; done; }
tell() {
  for group in $groups; do kill -s "$1" -- "-$group" 2>/dev/null; done
  for pid in $(marked "$2"); do kill -s "$1" "$pid" 2>/dev/null; done
}
tell TERM "$1"
sleep "$2"
for round in 1 2 3; do tell KILL "$1"; done
`;

const owner = `${process.pid}-${randomUUID()}`;
const groups = new Set<number>();
let warden: ChildProcess | undefined;

/** What a program is given in its environment, so that it is found again. */
export const OWNER_MARK: Readonly<Record<string, string>> = { [MARK]: owner };

/** Has a group killed when this process is gone (N2). Call it in the turn in which its program was started. */
export function watchGroup(group: number): void {
  groups.add(group);
  if (warden === undefined) startWarden();
  else tell('+', group);
}

/** The group is over. */
export function forgetGroup(group: number): void {
  if (groups.delete(group)) tell('-', group);
}

/** Starts the warden before it is needed, so that no group waits for it. */
export function startWarden(): void {
  if (warden !== undefined || process.platform === 'win32' || !existsSync(SHELL)) return;
  const child = spawn(SHELL, ['-c', SCRIPT, 'reprise-warden', `${MARK}=${owner}`, String(GRACE_SECONDS)], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // N1
  });
  warden = child;
  const gone = (): void => {
    if (warden === child) warden = undefined; // N3
  };
  child.on('error', gone).on('exit', gone);
  child.stdin?.on('error', gone);
  child.unref();
  (child.stdin as { unref?: () => void } | null)?.unref?.();
  for (const group of groups) tell('+', group);
}

function tell(how: '+' | '-', group: number): void {
  warden?.stdin?.write(`${how} ${group}\n`);
}
