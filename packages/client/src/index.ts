/** Sessions of a world that a server serves, for browsers and other programs: no dependency, no Node. */
export { connect, type SessionClient, type SessionsClient } from './connect.js';
export type { FollowOptions } from './follow.js';
export { Refused } from './refused.js';
export type { ConnectOptions } from './requests.js';
export type {
  Command,
  Decided,
  Decision,
  Message,
  Page,
  Piece,
  Receipt,
  RunNow,
  SessionEvent,
  SessionRow,
  Told,
  TranscriptEntry,
  Waiting,
  Wire,
} from './types.js';
