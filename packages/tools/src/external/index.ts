/** Agents that are separate programs, used as sessions. Exported from a subpath of its own. */
export type { PermissionRequest } from './acp.js';
export {
  type ExternalAgentOptions,
  externalAgent,
  type PermissionRule,
  type PermissionVerdict,
} from './external-agent.js';
