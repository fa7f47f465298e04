/** The bounds of a sandbox's process. They end it; no byte of a journal depends on them. */

/** How long a sandbox may be silent while it is asked for something, before it is ended. */
export const SANDBOX_SILENT_MS = 30_000;

/** Memory that the code in a sandbox may take, in MiB. */
export const SANDBOX_MEMORY_MB = 1_024;

/** The largest thing that a sandbox may say at once: a frame, with room for what goes with it. */
export const SANDBOX_SAYS_BYTES_MAX = 128 * 1024 * 1024;
