/** The agent SDK: sessions, runs, steps and tools on the kernel. */

export * from './agent.js';
export * from './app.js';
export * from './bound-output.js';
export * from './contracts/non-execution.js';
export * from './contracts/session.js';
export * from './contracts/tool-call.js';
export * from './contracts/transcript.js';
export { type AgentEvent, projectFrame } from './events.js';
export { llmGenerate } from './plans/effects.js';
export { llmStepPlan } from './plans/llm-step.js';
export { toolCallPlan } from './plans/tool-call.js';
export { sessions } from './projection/sessions.js';
export { sessionReducer } from './reducer/session-reducer.js';
export { Run, type RunOutcome } from './run.js';
export { type SendOptions, Session } from './session.js';
export * from './tool.js';
export * from './tool-adapter.js';
export * from './transcript.js';
export { AgentWorld, type OpenAgentWorldOptions, openAgentWorld, readTranscript } from './world.js';
