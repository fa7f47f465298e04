/** Secrets: finds them, and keeps them out of stored and reported texts. */

export { SECRET_LENGTH_MIN } from './bounds.js';
export { concealAddress, concealArguments, concealHeaders, concealVariables } from './declared.js';
export { detailOfError, shownError } from './errors.js';
export { type PiecewiseScrubber, Scrubber } from './scrubber.js';
