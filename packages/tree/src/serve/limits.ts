/** Bounds between the owner of a world and the bridges of its programs. */

/** The most bytes of one line. */
export const BRIDGE_LINE_BYTES_MAX = 256 * 1024;

/** How long a connection may take to say who it is, in milliseconds. */
export const BRIDGE_HELLO_MS = 5_000;

/** How many connections may be open that have not yet said who they are; a further one is closed. */
export const BRIDGE_STRANGERS_MAX = 32;

/** The most calls of one program that are being answered. */
export const BRIDGE_CALLS_MAX = 64;

/** How many calls of one program are known again when they are repeated; older ones are forgotten. */
export const BRIDGE_KNOWN_CALLS_MAX = 10_000;

/** How many answers of one program are kept for repeated calls; others are read from the journal again. */
export const BRIDGE_ANSWERS_MAX = 64;

/** How often the connections of one program may break the protocol; then its token ends. */
export const BRIDGE_FAULTS_MAX = 8;

/** How many tokens of ended programs are remembered, so that they can be told from forged ones. */
export const BRIDGE_ENDED_MAX = 10_000;

/** The most bytes that may wait for a bridge to read them. */
export const BRIDGE_UNREAD_BYTES_MAX = 8 * 1024 * 1024;

/** How long a bridge tries to reach an owner that is gone, in milliseconds. */
export const BRIDGE_RECONNECT_MS = 30_000;

/** How long a bridge waits for another one of the same program to end, in milliseconds. */
export const BRIDGE_TAKEOVER_MS = 5_000;

/** How long a call waits for its answer, in milliseconds: programs give up after some 60 seconds. */
export const BRIDGE_WITHIN_MS = 25_000;

/** How often a client that asked for progress is told that a call still waits, in milliseconds. */
export const BRIDGE_PROGRESS_MS = 10_000;

/** The most bytes of one linked content that a program reads in an answer. */
export const BRIDGE_REF_BYTES_MAX = 8_000;

/** How long a killed program of an earlier process may take to be gone, in milliseconds. */
export const ORPHAN_GONE_MS = 5_000;

/** How many refused attempts are told in a window of time; further ones are counted. */
export const REFUSALS_TOLD_MAX = 16;

/** The length of that window, in milliseconds. */
export const REFUSALS_WINDOW_MS = 60_000;

/** How many connections to the people's door may be open; a further one is closed. */
export const PEOPLE_CONNECTIONS_MAX = 64;
