/**
 * Ensures that no program outlives the process that started it, even if that process is killed.
 *
 * The warden is a shell that reads from a pipe which groups are running. When the pipe closes, the owner is gone; the
 * warden then asks the groups to stop and kills them. On Linux it also finds processes that left their group: by a
 * variable in the environment that every program inherits from its parent, and by their parents.
 *
 * Invariants
 * N1  One warden serves a process, in its own session: a signal to the process, its group or its terminal does not
 *     reach it.
 * N2  A group is registered in the same turn of the event loop in which it started, and removed when it has ended.
 * N3  A warden that died is replaced when the next program starts, and learns all running groups.
 * N4  A process is noted with the time of its start before anything is stopped: its parents may end first, and its
 *     number may then belong to another process, which is not signalled.
 *
 * Bounds of the mechanism: there is no warden on Windows; outside Linux it cannot find a program that left its group;
 * nowhere can it find one that left its group, cleared its environment and outlived the parent that started it
 * (`setsid env -i program &` in a shell that has ended). Only a subreaper or a cgroup would, and Node makes neither.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';

/** The environment variable that marks the programs of one process, and what they start. */
export const PROGRAM_MARK = 'REPRISE_OWNER';

/** How long a group may take to stop after its owner is gone, in seconds. */
const GRACE_SECONDS = 1;

const SHELL = '/bin/sh';

/** Reads `+ GROUP` and `- GROUP` from its input; its arguments are the owner's mark and the grace period. */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
while read -r how group; do
  case "$how" in
    +) groups="$groups$group " ;;
    -) case "$groups" in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
marked() { grep -lsF -e "$1" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ pid _; do echo "$pid"; done; }
stat() {
  parent= pgroup= start= line=
  read -r line 2>/dev/null < "/proc/$1/stat" || return 1
  set -- \${line##*) }
  [ $# -ge 20 ] || return 1
  parent=$2 pgroup=$3
  shift 19
  start=$1
}
found=' '
note() { stat "$1" && case "$found" in *" $1:"*) return 1 ;; *) found="$found$1:$start " ;; esac; }
find() {
  [ -d /proc/self ] || return
  for pid in $(marked "$1"); do note "$pid"; done
  grew=1
  while [ "$grew" = 1 ]; do
    grew=0
    for at in /proc/[0-9]*; do
      pid=\${at#/proc/}
      [ "$pid" = $$ ] || ! stat "$pid" && continue
      case "$groups" in *" $pgroup "*) note "$pid" && grew=1 && continue ;; esac
      case "$found" in *" $parent:"*) note "$pid" && grew=1 ;; esac
    done
  done
}
tell() {
  for group in $groups; do kill -s "$1" -- "-$group" 2>/dev/null; done
  for one in $found; do stat "\${one%%:*}" && [ "$start" = "\${one#*:}" ] && kill -s "$1" "\${one%%:*}" 2>/dev/null; done
}
find "$1"
tell TERM
sleep "$2"
for round in 1 2 3; do find "$1"; tell KILL; done
`;

const owner = `${process.pid}-${randomUUID()}`;
const groups = new Set<number>();
let warden: ChildProcess | undefined;

/** The environment variable that every program receives, so that the warden can find it. */
export const OWNER_MARK: Readonly<Record<string, string>> = { [PROGRAM_MARK]: owner };

/** Whether a process group is one that this process started and that has not ended. */
export function isRunningProgram(group: number): boolean {
  return groups.has(group);
}

/** Registers a group to be killed when this process is gone (N2). Call it in the turn in which the program started. */
export function watchGroup(group: number): void {
  groups.add(group);
  if (warden === undefined) startWarden();
  else tell('+', group);
}

/** Removes a group that has ended. */
export function forgetGroup(group: number): void {
  if (groups.delete(group)) tell('-', group);
}

/** Starts the warden in advance, so that no group waits for it. */
export function startWarden(): void {
  if (warden !== undefined || process.platform === 'win32' || !existsSync(SHELL)) return;
  const child = spawn(SHELL, ['-c', SCRIPT, 'reprise-warden', `${PROGRAM_MARK}=${owner}`, String(GRACE_SECONDS)], {
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
