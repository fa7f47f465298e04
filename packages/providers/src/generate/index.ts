/** Recorded model calls, for those who read a journal: whom they asked, and the request that their parameters rebuild. */
export type { PartSource } from '../prompt/assemble-prompt.js';
export { type ProjectedCall, projectCall } from './assemble-request.js';
export { answerIn, askedIn } from './recorded-call.js';
