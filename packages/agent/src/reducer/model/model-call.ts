/**
 * The parameters that every model call of a session shares. They are references, so they stay small however long the
 * conversation is.
 */
import { type LlmGenerateParams, PROMPT_VERSION } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { CurrentRun, SessionState } from '../../contracts/state.js';
import { windowParams } from '../transcript/window.js';
import { toolsetRefs } from './toolsets.js';

/** The epochs under which a call is made: a result that carries other epochs is stale. */
export function fenceOf({ session_epoch, step_epoch }: SessionState) {
  return { session_epoch, step_epoch };
}

/** The parameters of a step's model call. */
export function stepParams(draft: SessionState, run: CurrentRun, ctx: ReducerContext): LlmGenerateParams {
  const { config } = run;
  return {
    ...config.options,
    model: config.model,
    session: { key: ctx.address[1], labels: draft.labels },
    def_ref: run.def_ref,
    config_rev: run.config_rev,
    system_ref: config.system_ref,
    tools_ref: config.tools_ref,
    ...toolsetRefs(run, ctx),
    context_head: ctx.logHead('transcript'),
    window: windowParams(draft),
    prompt: PROMPT_VERSION,
    ...(run.context === null ? {} : { context: run.context }),
  };
}
