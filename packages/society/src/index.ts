/** Societies of agents: identities, capabilities, memory by scope, trust, swarms and signed returns. */
export * from './api/answers.js';
export { type AgentQuery, Entity, type StatusOptions } from './api/entity.js';
export { Group } from './api/group.js';
export type { CommandOptions } from './api/requests.js';
export type { Society } from './api/society.js';
export { type SocietyOptions, society } from './part.js';
export * from './pure/index.js';
