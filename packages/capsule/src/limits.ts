/** The bounds of a capsule's process. They end it; no byte of a journal depends on them. */

/** How long a capsule may be silent while it is asked for something, before it is ended. */
export const CAPSULE_SILENT_MS = 30_000;

/** Memory that the code in a capsule may take, in MiB. */
export const CAPSULE_MEMORY_MB = 1_024;

/** The largest thing that a capsule may say at once: a frame, with room for what goes with it. */
export const CAPSULE_SAYS_BYTES_MAX = 128 * 1024 * 1024;
