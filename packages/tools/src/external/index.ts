/** Agents that are programs of their own, as sessions. On a subpath of its own. */
export type { PermissionRequest } from './acp.js';
export {
  type ExternalAgentOptions,
  externalAgent,
  type PermissionRule,
  type PermissionVerdict,
} from './external-agent.js';
