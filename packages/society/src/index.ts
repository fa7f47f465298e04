/** Societies of agents: identities, capabilities, memory by scope, trust and swarms. */
export { openPrivateKey, type RawPair } from './adapters/ed25519.js';
export { fileVault } from './adapters/file-vault.js';
export { type KeyVault, type MadeKey, memoryVault } from './adapters/vault.js';
export * from './api/answers.js';
export { type AgentQuery, Entity, type HotContext, type HotContextPatch, type StatusOptions } from './api/entity.js';
export type { InboxEvent } from './api/entity-inbox.js';
export type { EntityMemory, ReadMemory, WarmMemory } from './api/entity-memory.js';
export { Group } from './api/group.js';
export type { ForkReturn, MergeForkOptions, MergeReport, StayedBehind } from './api/merge-fork.js';
export type { By } from './api/requests.js';
export type { ReviewDecision, ReviewReport, StagedItem } from './api/returns.js';
export type { Society } from './api/society.js';
export { CreatedSwarm, type SwarmEvent, SwarmHandle, type SwarmReport } from './api/swarm.js';
export { auditSociety } from './audit/audit.js';
export {
  AUDIT_PROBLEMS,
  type AuditCode,
  type AuditedAgent,
  type AuditPlace,
  type AuditProblem,
  type AuditReport,
  type FailedCell,
} from './audit/report.js';
export { type SocietyOptions, society } from './part.js';
export * from './pure/index.js';
export { groupTools, swarmTools } from './tools/tools.js';
