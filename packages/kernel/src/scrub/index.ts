/** Secrets: what they are, and how they are kept out of what is stored and told. */
export { concealAddress, concealArguments, concealHeaders, concealVariables } from './declared.js';
export { errorDetail, shownError } from './errors.js';
export { SECRET_LENGTH_MIN } from './limits.js';
export { IN_PLACE, type PiecewiseScrubber, Scrubber } from './scrubber.js';
