/** Secrets: what they are, and how they are kept out of what is stored and told. */

export { SECRET_LENGTH_MIN } from './bounds.js';
export { concealAddress, concealArguments, concealHeaders, concealVariables } from './declared.js';
export { errorDetail, shownError } from './errors.js';
export { IN_PLACE, type PiecewiseScrubber, Scrubber } from './scrubber.js';
