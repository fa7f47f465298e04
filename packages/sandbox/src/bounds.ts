/** The bounds of a sandbox's process. They end the process; no byte of a journal depends on them. */

/** The time in ms in which a sandbox must answer a request before it is ended. */
export const SANDBOX_SILENT_MS = 30_000;

/** Memory that the code in a sandbox may take, in MiB. */
export const SANDBOX_MEMORY_MB = 1_024;

/** The largest message of a sandbox: a frame, with space for its header. */
export const SANDBOX_SAYS_BYTES_MAX = 128 * 1024 * 1024;
