import type { PolicyRule } from '@reprise/contracts';
import { type App, appOnUse, defineApp } from '@reprise/kernel/define';
import { compactionPlan } from '../plans/compaction.js';
import { humanAskPlan } from '../plans/human-ask.js';
import { llmStepPlan } from '../plans/llm-step.js';
import { toolCallPlan } from '../plans/tool-call.js';
import { toolsetAdoptPlan } from '../plans/toolset-adopt.js';
import { toolsetRefreshPlan } from '../plans/toolset-refresh.js';
import { sessionReducer } from '../reducer/session-reducer.js';

/**
 * The rules that permit what agents do, and nothing else: a session reaches itself, its parent and its children. They
 * apply when no policy is given. Put your own rules before them: the first match decides.
 */
export const AGENT_POLICY: readonly PolicyRule[] = Object.freeze([
  { effect: 'llm.generate@2', decision: 'allow' },
  { effect: 'tool.call@1', decision: 'allow' },
  { effect: 'human.ask@1', decision: 'allow' },
  { effect: 'toolset.refresh@1', decision: 'allow' },
  { effect: 'toolset.adopt@1', decision: 'allow' },
]);

/** The pure wing of every agent world: what `reprise verify` executes when no other app is named. */
export const agentApp: App = appOnUse(() =>
  defineApp({
    reducers: [sessionReducer],
    plans: [llmStepPlan, compactionPlan, toolCallPlan, humanAskPlan, toolsetRefreshPlan, toolsetAdoptPlan],
    policy: AGENT_POLICY,
  }),
);

export default agentApp;
