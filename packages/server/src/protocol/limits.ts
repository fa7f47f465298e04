/** Bounds on what one client may send. */

/** The most bytes of one message; a longer one is skipped and answered with an error. */
export const MCP_LINE_BYTES_MAX = 1024 * 1024;

/** The most bytes of a message that are skipped: a client that sends more without a line break is disconnected. */
export const MCP_SKIPPED_BYTES_MAX = 64 * 1024 * 1024;

/** The most requests of one client that are being answered; further ones are refused. */
export const MCP_REQUESTS_MAX = 64;

/** The most lines in a row that are no messages; then the client is disconnected: it speaks another protocol. */
export const MCP_GARBAGE_MAX = 16;

/** The most bytes that may wait for the client to read them; a client that reads less is disconnected. */
export const MCP_UNREAD_BYTES_MAX = 8 * 1024 * 1024;

/** The most resources that a client in one session follows. */
export const MCP_FOLLOWED_MAX = 256;

/** The most bytes of one resource; a larger one is refused. */
export const SERVE_RESOURCE_BYTES_MAX = 4 * 1024 * 1024;

/** The most bytes of a page of a transcript; one item may have more. */
export const SERVE_PAGE_BYTES = 48 * 1024;

/** How much of a text a transcript shows, in UTF-16 units; the whole text is content. */
export const SERVE_TEXT_UNITS = 8 * 1024;

/** How many sessions a page lists. */
export const SERVE_SESSIONS_PAGE = 50;

/** How many sessions are looked at for a page: a principal may read few of very many. */
export const SERVE_SESSIONS_LOOKED_AT = 1_000;

/** The most requests of one connection that wait for an answer; a client that sends more is disconnected. */
export const HTTP_PIPELINED_MAX = 16;

/** How long news of frames is gathered before clients are told, in milliseconds. */
export const SERVE_NEWS_MS = 20;

/** Bounds of a server over HTTP. Each may be set by its option `limits`. */
export interface HttpLimits {
  /** The most bytes of a request's body. Default 1 MiB. */
  readonly bodyBytes: number;
  /** The most connections at once. Default 256. For one more, a principal or address that has the most loses one. */
  readonly connections: number;
  /** The most connections of one principal, and of one address before a principal is known. Default 128. */
  readonly connectionsEach: number;
  /** The most streams of one principal, of both kinds together. Default 32. */
  readonly streams: number;
  /** The most messages of one principal that are being answered. Default 64. */
  readonly open: number;
  /** How many messages of one principal are taken in a second, on average. Default 200. */
  readonly perSecond: number;
  /** How many messages of one principal may come at once, before that average counts. Default 1,000. */
  readonly burst: number;
  /** The most messages of one batch. Default 32. */
  readonly batch: number;
  /** The most sessions at once. Default 256. For one more, a principal that has the most loses its longest unused one. */
  readonly sessions: number;
  /** The most sessions of one principal. Default 64. The one that was used longest ago makes room for another. */
  readonly sessionsEach: number;
  /** How long a session is kept that nothing uses, in milliseconds. Default one hour. */
  readonly sessionMs: number;
  /** How long a client may take to send the headers of a request, in milliseconds. Default 10 seconds. */
  readonly headersMs: number;
  /** How long a client may take to send a request, in milliseconds. Default 30 seconds. */
  readonly requestMs: number;
  /** How often the principal of each open stream is found again, in milliseconds. Default one second. */
  readonly streamCheckMs: number;
  /** How long requests may go on when the server closes, in milliseconds. Default 5 seconds. */
  readonly drainMs: number;
}

export const HTTP_LIMITS: HttpLimits = {
  bodyBytes: 1024 * 1024,
  connections: 256,
  connectionsEach: 128,
  streams: 32,
  open: 64,
  perSecond: 200,
  burst: 1_000,
  batch: 32,
  sessions: 256,
  sessionsEach: 64,
  sessionMs: 60 * 60 * 1_000,
  headersMs: 10_000,
  requestMs: 30_000,
  streamCheckMs: 1_000,
  drainMs: 5_000,
};
