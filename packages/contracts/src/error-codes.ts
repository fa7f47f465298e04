/**
 * The closed list of everything Reprise refuses or reports. Each code has a page `docs/errors/<code>.md`
 * (a test holds the two lists equal). A code is part of the public contract: it is added, never renamed.
 */
export const ERROR_CODES = [
  // values and bytes
  'invalid_value',
  'invalid_bytes',
  // definitions
  'invalid_name',
  'invalid_schema',
  'invalid_definition',
  'duplicate_definition',
  // arguments and requests
  'invalid_argument',
  'unknown_reducer',
  'unknown_event',
  'unknown_effect',
  'unknown_model',
  'unknown_agent',
  'event_invalid',
  'cell_absent',
  'cell_failed',
  'request_rejected',
  'request_conflict',
  'delivery_faulted',
  'bound_exceeded',
  'stack_exhausted',
  'effect_settled',
  'cap_denied',
  'policy_denied',
  'rights_exceeded',
  'revision_conflict',
  'account_unknown',
  'approval_stale',
  'nondeterminism',
  // worlds and stores
  'world_locked',
  'world_closed',
  'world_absent',
  'fork_unfinished',
  'manifest_mismatch',
  'era_incompatible',
  'era_sealed',
  'plan_in_flight',
  'migration_failed',
  'semantics_unknown',
  'clock_mismatch',
  'stale_head',
  'commit_failed',
  'fenced',
  'store_failed',
  'store_full',
  'journal_damaged',
  'blob_missing',
  'blob_damaged',
  'blob_erased',
  'erase_refused',
  'erase_unfinished',
  'head_mismatch',
  'replay_divergence',
  'view_failed',
  'runtime_unsupported',
  'host_busy',
  'host_closed',
  'internal_error',
  // agents and tools
  'run_failed',
  'path_refused',
  'provider_unreachable',
] as const;

/** One code of the closed error list. */
export type ErrorCode = (typeof ERROR_CODES)[number];
