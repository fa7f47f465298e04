/** How the verbs of `reprise team` end. The numbers are those of `reprise tree`. */
import type { ProjectStatus } from '@reprise/specialists';
import { TREE_EXIT, type TreeExitCode } from '../tree/exit.js';

/** The exit code of a project that is idle, or that waits for what comes from outside. */
export function exitOfProject(status: ProjectStatus, waits: boolean): TreeExitCode {
  if (status === 'cancelled') return TREE_EXIT.cancelled;
  return waits || status === 'needs_decision' ? TREE_EXIT.waits : TREE_EXIT.complete;
}

/** The exit codes as text for `--help`. */
export const TEAM_EXIT_HELP = `
Exit codes:
  0  the project has no work left, or the verb did what it was told
  2  wrong use: arguments, a project or memory that is not there, a refused message, a world that another process has
  3  the project waits for what comes from outside: a decision, an approval, an answer, a message
  4  the project was cancelled
  5  the world cannot be read or written, or does not verify
  130  you left a project that still works`;
