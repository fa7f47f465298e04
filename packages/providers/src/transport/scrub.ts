/** The scrubber is the kernel's: each world has one. */
export { type PiecewiseScrubber, Scrubber } from '@reprise/kernel';
