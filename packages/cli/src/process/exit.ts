/** How the command ends. The numbers are specified in `docs/reference/cli.md`. */
import { type ErrorCode, isRepriseError } from '@reprise/contracts';

/** The exit codes of the process, by what happened. */
export const EXIT = {
  /** The command succeeded and found nothing wrong. */
  ok: 0,
  /** Something is wrong with the world: damage, divergence, another head, content that is missing. */
  finding: 1,
  /** The command was used wrongly; the world was not checked. */
  usage: 2,
  /** The world cannot be read: absent, not a world, an I/O error, or an error of this program. */
  unreadable: 3,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Codes that report a defect in the content of the world. */
const FINDINGS: ReadonlySet<ErrorCode> = new Set([
  'journal_damaged',
  'blob_damaged',
  'blob_erased',
  'blob_missing',
  'erase_unfinished',
  'head_mismatch',
  'invalid_bytes',
  'era_incompatible',
  'era_unverified',
  'code_failed',
  'code_mismatch',
  'manifest_mismatch',
  'migration_failed',
  'nondeterminism',
  'plan_in_flight',
  'replay_divergence',
  'request_differs',
  'world_incomplete',
]);

/** Codes that report wrong arguments. */
const USAGE: ReadonlySet<ErrorCode> = new Set(['invalid_argument', 'cell_absent', 'unknown_reducer']);

/** The exit code for an error. */
export function exitCodeOf(error: unknown): ExitCode {
  if (!isRepriseError(error)) return EXIT.unreadable;
  if (FINDINGS.has(error.code)) return EXIT.finding;
  return USAGE.has(error.code) ? EXIT.usage : EXIT.unreadable;
}

/** The exit codes as text for `--help`. */
export const EXIT_HELP = `
Exit codes:
  0  fine
  1  a finding: damage, divergence, another head, missing content, an unfit app
  2  wrong use: arguments, the app's module, a cell or record that is not there
  3  the world cannot be read: absent, not a world, an I/O error`;
