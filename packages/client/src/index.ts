/** Sessions of a world that a server serves, for browsers and other programs: no dependency, no Node. */
export { connect, type OrganizationClient, type SessionClient, type SessionsClient } from './connect.js';
export { RequestRefused } from './refused.js';
export type { ConnectOptions } from './requests.js';
export type {
  Acceptance,
  Command,
  DecisionResult,
  ItemDecision,
  Message,
  OrganizationEvent,
  OrganizationKind,
  OrganizationSummary,
  Page,
  PendingDecision,
  Piece,
  RunNow,
  SessionEvent,
  SessionSummary,
  StreamItem,
  TranscriptEntry,
} from './types.js';
