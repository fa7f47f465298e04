/** Requests to models, one at a time: what was sent, and where each part came from. */
export type { PartOrigin, PromptPart, RequestReport, SentRequest, ToolsDiff } from './report.js';
export { type RequestOfOptions, requestOf } from './request-of.js';
