/** Run AI agents whose every run can be replayed: same journal in, same bytes out. */
export type {
  Agent,
  AgentEvent,
  AgentEventOf,
  AgentSpec,
  AgentWorld,
  AnyAgent,
  ApprovalRule,
  CommandReceipt,
  Cursor,
  Decided,
  Decision,
  Delta,
  Duration,
  Input,
  Limits,
  Outcome,
  Part,
  Pending,
  Question,
  Run,
  SendOptions,
  Session,
  StopReason,
  Tool,
  ToolContext,
  ToolSpec,
  Toolset,
} from '@reprise/agent';
export {
  AGENT_POLICY,
  agentApp,
  deferred,
  defineAgent,
  defineTool,
  outcomeUnknown,
  toolError,
} from '@reprise/agent/define';
export {
  type Actor,
  actorWords,
  type ErrorCode,
  isRepriseError,
  type Principal,
  Ref,
  RepriseError,
} from '@reprise/contracts';
export type { VerifyReport } from '@reprise/kernel';
export { memory } from '@reprise/kernel/store';
export { type Models, type OpenWorldOptions, openWorld } from './open-world.js';
