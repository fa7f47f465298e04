/** Which fact of a session becomes which event. */
import type * as z from '@reprise/contracts/schema';
import type { AgentEventOf } from '../contracts/agent-event.js';
import type { SESSION_FACTS } from '../contracts/facts.js';
import { type InputDrop, type Lifecycle, TERMINAL } from '../contracts/lifecycle.js';
import type { Body, Place } from './placed-event.js';

type Facts = typeof SESSION_FACTS;
/** The name of a fact of a session. */
export type FactName = keyof Facts;
/** The value of a fact. */
export type FactValue<N extends FactName> = z.infer<Facts[N]>;

/** The event of a fact, in its session. */
export type Made = { readonly place: Place; readonly body: Body };
type At = { readonly run: number; readonly turn: number; readonly step: number };

/** The event of each fact; undefined for facts that other records already show. */
export const FACTS: { readonly [N in FactName]: (value: FactValue<N>) => Made | undefined } = {
  'aos.agent/InputAccepted@1': ({ run, first_ref, ...rest }) => ({
    place: { run },
    body: { type: 'input.accepted', ...rest, ref: first_ref },
  }),
  'aos.agent/InputDropped@1': ({ run, command_id, turn, why }) => ({
    place: { run },
    body: turn === true ? { type: 'input.dropped', command_id, why } : neverStarted(why),
  }),
  'aos.agent/HostCommandAccepted@1': ({ type: command, at: place = {}, ...rest }) => ({
    // A follow-up belongs to its future run.
    place: rest.run === undefined || rest.run === place.run ? place : { run: rest.run },
    body: { type: 'command.accepted', command, ...rest },
  }),
  'aos.agent/HostCommandRejected@1': atHand(({ type: command, ...rest }) => ({
    type: 'command.rejected',
    command,
    ...rest,
  })),
  'aos.agent/HostCommandApplied@1': atHand(({ type: command, ...rest }) => ({
    type: 'command.applied',
    command,
    ...rest,
  })),
  'aos.agent/HostCommandDropped@1': atHand(({ type: command, ...rest }) => ({
    type: 'command.dropped',
    command,
    ...rest,
  })),
  'aos.agent/LifecycleChanged@1': ({ run, depth: _, output_ref: ref, ...rest }) => ({
    place: { run },
    body: { type: 'lifecycle', news: newsOf(rest.from, rest.to), ...rest, ...(ref === undefined ? {} : { ref }) },
  }),
  'aos.agent/TurnStarted@1': ({ run, turn, step: _, ...rest }) => ({
    place: { run, turn },
    body: { type: 'turn.started', ...rest },
  }),
  'aos.agent/LlmStepRequested@1': at((rest) => ({ type: 'llm_step.requested', ...rest })),
  'aos.agent/LlmStepAnswered@1': at(({ output_ref: ref, ...rest }) => ({
    type: 'llm_step.completed',
    ref,
    ...rest,
    interrupted: rest.finish_reason === 'interrupted',
  })),
  'aos.agent/LlmStepGaveUp@1': at((rest) => ({ type: 'llm_step.failed', ...rest })),
  'aos.agent/ToolCallRequested@1': at(({ args_ref: ref, ...rest }) => ({ type: 'tool.requested', ...rest, ref })),
  'aos.agent/ToolCallWaiting@1': at(({ effect: _, ...rest }) => ({ type: 'tool.waiting', ...rest })),
  'aos.agent/ToolCallSettled@1': at(({ call_id, tool, outcome }) => settledBody({ call_id, tool }, outcome)),
  'aos.agent/ToolCallLate@1': atHand(({ output_ref: ref, ...rest }) => ({
    type: 'tool.late',
    ...rest,
    ...(ref === undefined ? {} : { ref }),
  })),
  'aos.agent/LoopDetected@1': at((rest) => ({ type: 'loop.detected', ...rest })),
  'aos.agent/ContextPressure@1': ({ run, level: percent, ...rest }) => ({
    place: { run },
    body: { type: 'context.pressure', percent, ...rest },
  }),
  'aos.agent/BudgetPressure@1': ({ run, level: percent, ...rest }) => ({
    place: { run },
    body: { type: 'budget.pressure', percent, ...rest },
  }),
  'aos.agent/CompactionStarted@1': ({ run, ...rest }) => ({
    place: { run },
    body: { type: 'compaction.started', ...rest },
  }),
  'aos.agent/ContextCompacted@1': ({ run, base_ref: ref, ...rest }) => ({
    place: { run },
    body: { type: 'context.compacted', ref, ...rest },
  }),
  'aos.agent/CompactionGaveUp@1': ({ run, ...rest }) => ({
    place: { run },
    body: { type: 'compaction.failed', ...rest },
  }),
  'aos.agent/LimitReached@1': at((rest) => ({ type: 'limit.reached', ...rest })),
  'aos.agent/UsageDiffers@1': at((rest) => ({ type: 'usage.differs', ...rest })),
  'aos.agent/ConfigChanged@1': atHand((rest) => ({ type: 'config.changed', ...rest })),
  'aos.agent/ChildChanged@1': ({ run, ...rest }) => ({
    place: run === null ? {} : { run },
    body: childBody(rest),
  }),
  'aos.agent/ToolsetChanged@1': at(({ diff_ref: ref, tools_ref: _, ...rest }) => ({
    type: 'toolset.changed',
    ...rest,
    ref,
  })),
  'aos.agent/ToolsetDecided@1': at((rest) => ({ type: 'toolset.decided', ...rest })),
  'aos.agent/ToolsetUnreachable@1': at(({ why_ref: ref, ...rest }) => ({
    type: 'toolset.unreachable',
    ...rest,
    ...(ref === undefined ? {} : { ref }),
  })),
  'aos.agent/ToolsetReachable@1': at((rest) => ({ type: 'toolset.reachable', ...rest })),
  'aos.agent/OwnerAnswered@1': ({ call_id, value, refs, is_error }) => ({
    place: {},
    body: { type: 'owner.answered', call_id, answer: { value, refs }, is_error },
  }),
  'aos.agent/StaleIgnored@1': (rest) => ({ place: {}, body: { type: 'stale.ignored', ...rest } }),
};

/** Makes an event of a fact of a step, and separates its place from its content. */
function at<V extends At>(body: (rest: Omit<V, keyof At>) => Body): (value: V) => Made {
  return ({ run, turn, step, ...rest }) => ({ place: { run, turn, step }, body: body(rest) });
}

/** Makes an event of a fact of the current run, if there was one. */
function atHand<V extends { readonly at?: At }>(body: (rest: Omit<V, 'at'>) => Body): (value: V) => Made {
  return ({ at: place = {}, ...rest }) => ({ place, body: body(rest) });
}

/** The end of a run whose input was dropped before its turn came. */
function neverStarted(dropped: InputDrop): Body {
  const stop = { kind: 'Cancelled' as const, dropped };
  return { type: 'lifecycle', news: 'cancelled', from: 'Queued', to: 'Cancelled', stop };
}

function newsOf(from: Lifecycle, to: Lifecycle): AgentEventOf<'lifecycle'>['news'] {
  if (to === 'Running') return TERMINAL.includes(from) ? 'started' : 'resumed';
  return NEWS[to];
}

const NEWS: Readonly<Record<Exclude<Lifecycle, 'Running'>, AgentEventOf<'lifecycle'>['news']>> = {
  Idle: 'completed', // no move leads there
  WaitingInput: 'waiting',
  Paused: 'paused',
  Cancelling: 'cancelling',
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'cancelled',
};

type Call = { readonly call_id: string; readonly tool: string };

function settledBody(call: Call, outcome: FactValue<'aos.agent/ToolCallSettled@1'>['outcome']): Body {
  if ('children' in outcome) return { type: 'tool.completed', ...call, truncated: false, artifacts: [] };
  if ('non_execution' in outcome) {
    const { non_execution } = outcome;
    return { type: 'tool.failed', ...call, code: non_execution.code ?? null, non_execution };
  }
  if ('answer' in outcome) {
    const { answer, is_error } = outcome;
    if (is_error) return { type: 'tool.failed', ...call, code: null, answer };
    return { type: 'tool.completed', ...call, answer, truncated: false, artifacts: [] };
  }
  const { output_ref: ref, operator_output_ref: operator_ref, is_error, truncated, error_code, artifacts } = outcome;
  if (is_error) return { type: 'tool.failed', ...call, code: error_code ?? null, ref, operator_ref };
  const edited = outcome.edited_args_ref === undefined ? {} : { edited_args_ref: outcome.edited_args_ref };
  return { type: 'tool.completed', ...call, ref, operator_ref, truncated, artifacts: artifacts ?? [], ...edited };
}

function childBody({ status, output_ref: ref, ...child }: Omit<FactValue<'aos.agent/ChildChanged@1'>, 'run'>): Body {
  if (status === 'spawned') return { type: 'child.spawned', ...child };
  if (status === 'running' || status === 'waiting' || status === 'closed')
    return { type: 'child.changed', ...child, status };
  return { type: 'child.ended', ...child, status, ...(ref === undefined ? {} : { ref }) };
}
