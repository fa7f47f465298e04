/** Agents that are separate programs, used as sessions. Exported from a subpath of its own. */
export type { PermissionRequest } from './acp.js';
export {
  type ExternalAgentOptions,
  externalAgent,
  type PermissionRule,
  type PermissionVerdict,
  type ProgramAnswer,
  type ProgramWatch,
  type StartedProgram,
} from './external-agent.js';
export type { CalledServer, ProgramServer, Serve, ServeContext, StartedServer } from './served.js';
