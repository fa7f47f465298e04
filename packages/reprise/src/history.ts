/** The history of a world in words, explanations of what happened in it, and its errors in lines. */
export { AgentEvents, agentEvent } from '@reprise/agent';
export {
  type Act,
  explainAct,
  type FindOptions,
  type Found,
  failureWords,
  findActs,
  History,
  type HistoryEntry,
  type HistorySource,
  historyOf,
  type RunStatus,
  reportOnce,
  type Stalled,
  TEXT_BOUNDS,
  type TextBounds,
  type ToolChange,
  type ToolDifference,
  toolDifferences,
  type WhyLink,
} from '@reprise/agent/history';
