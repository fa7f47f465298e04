/** Run AI agents whose every run can be performed again: same journal in, same bytes out. */
export {
  type Agent,
  type AgentEvent,
  type AgentSpec,
  type AgentWorld,
  agentApp,
  defineAgent,
  defineTool,
  type Run,
  type RunOutcome,
  type SendOptions,
  type Session,
  type Tool,
  type ToolContext,
  toolError,
} from '@reprise/agent';
export { type ErrorCode, isRepriseError, Ref, RepriseError } from '@reprise/contracts';
export { memory, type VerifyReport } from '@reprise/kernel';
export { type OpenWorldOptions, openWorld } from './open-world.js';
