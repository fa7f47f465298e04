/** Work of agents for an owner: jobs, and texts for models, composed from the content of a world. */
export { composeAdapter, composeText } from './adapter/compose.js';
export { type JobRequest, NotPrepared, type PrepareHost, type Preparer } from './adapter/preparer.js';
export { callRules } from './call-rules.js';
export { textsPart, type WorkPartOptions, workPart } from './part.js';
export * from './pure/index.js';
