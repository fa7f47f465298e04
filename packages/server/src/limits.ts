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
