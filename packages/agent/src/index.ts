/** The agent SDK: sessions, runs, steps and tools on the kernel. */

export {
  type Agent,
  type AgentDeps,
  type AgentSpec,
  type AnyAgent,
  defineAgent,
  type ReturnOf,
  type Returns,
} from './agent.js';
export * from './app.js';
export type { CompactionChoice } from './compaction-choice.js';
export * from './contracts/index.js';
export { INLINE_BYTES_MAX, type WatchOptions, watch } from './events.js';
export * from './judge/index.js';
export { LIMITS_DEFAULT, type Limits } from './limits.js';
export { LOOP_POLICIES, type LoopChoice } from './loop-policies.js';
export type { ModelChoices } from './model-choices.js';
export {
  AGENT_POLICY,
  type AgentWorldOptions,
  type NeedsDeps,
  type OpenAgentWorldOptions,
  openAgentParts,
  openAgentWorld,
} from './open-agent-world.js';
export type { Input, Part, PartView } from './parts.js';
export type { Decided, DecideOptions, Decision, Open, OpenDrift, OpenQuery, OpenQuestion } from './people.js';
export { compactionPlan } from './plans/compaction.js';
export { llmGenerate } from './plans/effects.js';
export { llmStepPlan } from './plans/llm-step.js';
export { toolCallPlan } from './plans/tool-call.js';
export { microDollars, type Price, requirePrice } from './price.js';
export { AgentEvents, type EventFrame, type EventScope, runId, seenBy } from './projection/agent-events.js';
export { runs, sessionLabels, sessions, sessionTree } from './projection/sessions.js';
export { sessionReducer } from './reducer/session-reducer.js';
export { type Outcome, Run } from './run.js';
export type { RunWatchOptions } from './run-watch.js';
export {
  type CommandOptions,
  type CommandReceipt,
  type SayOptions,
  type SendOptions,
  Session,
  type SessionOf,
  type SessionOptions,
} from './session.js';
export { type ModelInfo, type ModelInfos, type Reconfiguration, storeAgent } from './store-agent.js';
export * from './tools/index.js';
export * from './transcript.js';
export {
  AgentWorld,
  type AgentWorldParts,
  type ChildRow,
  type Remembered,
  type SessionInfoRow,
  type SessionQuery,
} from './world.js';
