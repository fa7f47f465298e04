/** How the verbs of `reprise tree` end. The numbers are specified in `docs/reference/cli.md`. */
import { isRepriseError } from '@reprise/contracts';
import type { TreeView } from '@reprise/tree';
import { EXIT, exitCodeOf } from '../process/exit.js';

/** The exit codes of `reprise tree`. */
export const TREE_EXIT = {
  /** The tree is complete, or the verb did what it was told. */
  complete: 0,
  failed: 1,
  /** Wrong use: arguments, a tree or node that is not there, a refused command, a world that another process has. */
  usage: 2,
  /** The tree waits for what comes from outside, and there is no terminal. */
  waits: 3,
  cancelled: 4,
  /** The world cannot be read or written, or does not verify. */
  unreadable: 5,
} as const;

/** One of the exit codes of `reprise tree`. */
export type TreeExitCode = (typeof TREE_EXIT)[keyof typeof TREE_EXIT];

/** The exit code of an ended tree. */
export function exitOf({ status }: Pick<TreeView, 'status'>): TreeExitCode {
  if (status === 'failed') return TREE_EXIT.failed;
  return status === 'cancelled' ? TREE_EXIT.cancelled : TREE_EXIT.complete;
}

/** Codes of mistakes that the user can correct. */
const WRONG_USE = ['world_locked', 'cap_denied', 'invalid_definition', 'unknown_agent', 'unknown_model'] as const;

/** The exit code for an error. */
export function exitOfError(error: unknown): TreeExitCode {
  const isWrongUse = exitCodeOf(error) === EXIT.usage || WRONG_USE.some((code) => isRepriseError(error, code));
  return isWrongUse ? TREE_EXIT.usage : TREE_EXIT.unreadable;
}

/** The exit codes as text for `--help`. */
export const TREE_EXIT_HELP = `
Exit codes:
  0  the tree is complete, or the verb did what it was told
  1  the tree failed
  2  wrong use: arguments, a tree or node that is not there, a refused command, a world that another process has
  3  the tree waits for what comes from outside, such as an answer, and there is no terminal
  4  the tree was cancelled
  5  the world cannot be read or written, or does not verify`;
