import { type App, defineApp } from '@reprise/kernel/define';
import { compactionPlan } from '../plans/compaction.js';
import { humanAskPlan } from '../plans/human-ask.js';
import { llmStepPlan } from '../plans/llm-step.js';
import { toolCallPlan } from '../plans/tool-call.js';
import { toolsetAdoptPlan } from '../plans/toolset-adopt.js';
import { toolsetRefreshPlan } from '../plans/toolset-refresh.js';
import { sessionReducer } from '../reducer/session-reducer.js';

/** The pure wing of every agent world: what `reprise verify` executes when no other app is named. */
export const agentApp: App = defineApp({
  reducers: [sessionReducer],
  plans: [llmStepPlan, compactionPlan, toolCallPlan, humanAskPlan, toolsetRefreshPlan, toolsetAdoptPlan],
});

export default agentApp;
