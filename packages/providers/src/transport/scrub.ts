/** Re-exports the kernel's scrubber: each world has one. */
export { type PiecewiseScrubber, Scrubber } from '@reprise/kernel';
