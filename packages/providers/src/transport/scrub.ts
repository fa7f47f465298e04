/** Re-exports the kernel's scrubber: each world has one. */
export type { PiecewiseScrubber } from '@reprise/kernel';
export { Scrubber } from '@reprise/kernel/store';
