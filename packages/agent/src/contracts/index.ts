/** Every contract of the agent SDK: schemas, types and names, no behaviour. */
export * from './agent-def.js';
export * from './agent-event.js';
export * from './commands.js';
export * from './config.js';
export * from './facts.js';
export * from './lifecycle.js';
export * from './non-execution.js';
export * from './owner.js';
export * from './senders.js';
export * from './session.js';
export * from './state.js';
export * from './tool-call.js';
export * from './toolset.js';
export * from './toolset-offer.js';
export * from './transcript.js';
export * from './window.js';
