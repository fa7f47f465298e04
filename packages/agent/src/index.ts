/** The agent SDK: sessions, runs, steps and tools on the kernel. */

export * from './content/transcript.js';
export * from './contracts/index.js';
export {
  type Agent,
  type AgentDeps,
  type AgentSpec,
  type AnyAgent,
  defineAgent,
  type ModelsOf,
  type ReturnOf,
  type Returns,
} from './define/agent.js';
export type { CompactionChoice } from './define/compaction-choice.js';
export { LIMITS_DEFAULT, type Limits } from './define/limits.js';
export { LOOP_POLICIES, type LoopChoice } from './define/loop-policies.js';
export type { ModelChoices } from './define/model-choices.js';
export { microDollars, type Price, requirePrice } from './define/price.js';
export { type ModelInfo, type ModelInfos, type Reconfiguration, storeAgent } from './define/store-agent.js';
export * from './judge/index.js';
export { compactionPlan } from './plans/compaction.js';
export { llmGenerate } from './plans/effects.js';
export { llmStepPlan } from './plans/llm-step.js';
export { toolCallPlan } from './plans/tool-call.js';
export { sessionReducer } from './reducer/session-reducer.js';
export { type Input, type Part, type PartView, storeParts } from './session/parts.js';
export { partRequestId } from './session/request-id.js';
export { requireSound } from './session/require-sound.js';
export {
  type BesideOptions,
  INLINE_BYTES_MAX,
  type PlacedBeside,
  type WatchOptions,
  watch,
} from './session/run/events.js';
export type { Pending, PendingQuestion, ToolsetChange } from './session/run/pending.js';
export { type EndedOrWaiting, type Outcome, Run } from './session/run/run.js';
export type { RunStatus, Stalled } from './session/run/run-status.js';
export type { Waiting } from './session/run/run-wait.js';
export type { RunWatchOptions } from './session/run/run-watch.js';
export { isBelow, stallsOf } from './session/run/stalls.js';
export { Session, type SessionOf } from './session/session.js';
export type {
  CancelOptions,
  CommandOptions,
  CommandReceipt,
  SayOptions,
  SendOptions,
  SessionOptions,
} from './session/session-options.js';
export { type SessionReader, type SessionWait, sessionEndsFromOutside, sessionWaits } from './session/waits.js';
export { AgentEvents } from './timeline/agent-events.js';
export type { EventFrame } from './timeline/event-frame.js';
export type { EventScope } from './timeline/event-scope.js';
export { runId } from './timeline/placed-event.js';
export { seenBy } from './timeline/seen-by.js';
export { runs, sessionLabels, sessions, sessionTree } from './timeline/sessions.js';
export * from './tools/index.js';
export { type ToolChange, type ToolDifference, toolDifferences } from './tools/tool/tool-change.js';
export * from './world/app.js';
export type { Decision } from './world/decision.js';
export {
  type AgentWorldOptions,
  type NeedsDeps,
  type OpenAgentWorldOptions,
  openAgentParts,
  openAgentWorld,
} from './world/open-agent-world.js';
export {
  appOf,
  type Organization,
  type OrganizationParts,
  type PartHost,
  type Served,
  type ServedAnswer,
  type ServedCall,
  type ServedContent,
  type ServedResource,
  type ServedSchema,
  type ServedTool,
  type WorldPart,
} from './world/part.js';
export type { Decided, DecideOptions, PendingQuery } from './world/people.js';
export {
  AgentWorld,
  type AgentWorldParts,
  type ChildRow,
  type Remembered,
  type SessionInfoRow,
  type SessionQuery,
} from './world/world.js';
