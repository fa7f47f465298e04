/**
 * `aos.agent/SessionReducer@1`: the loop of an agent, as a pure reducer.
 *
 * input → llm_step_plan → model answer → tool_call_plan for each call → results → llm_step_plan → … → end.
 *
 * Invariants
 * S1  Every event has exactly one handler; no handler throws in any state: an event that does not fit is refused or
 *     recorded as a fact.
 * S2  A result counts only under the epochs of its start; a late result is a fact, and a note for the model.
 * S3  The transcript never holds a call without a result: results are appended together, in the order of the calls.
 * S4  The state does not grow with the age of the session: growing data is in the transcript log, and in tables.
 * S5  Nothing is emitted beyond a limit, nor while the run is paused, waits for outside input, or is stopping.
 */
import { NOTICES } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import {
  by,
  creates,
  defineReducer,
  type EventOf,
  from,
  fromAll,
  type ReducerContext,
  type RowOf,
  reducerOnUse,
} from '@reprise/kernel/define';
import { agentAdopted, sessionCommand, userInput } from '../contracts/commands.js';
import { limitAmounts } from '../contracts/config.js';
import { SESSION_FACTS } from '../contracts/facts.js';
import { ownerAnswer, ownerAnswers, ownerCalled, ownerParked, turnCall } from '../contracts/owner.js';
import { session } from '../contracts/senders.js';
import * as contract from '../contracts/session.js';
import {
  allowance,
  childEntry,
  endedRun,
  queuedInput,
  type SessionState,
  sessionState,
  spawnable,
  storedDetail,
} from '../contracts/state.js';
import { knownToolset } from '../contracts/toolset.js';
import { transcriptItem } from '../contracts/transcript.js';
import { workedMs } from './account/limits.js';
import { callContinues, callSettled, callWaits } from './call/calls.js';
import { waitIsOver } from './call/child-waits.js';
import { childFailed, childNews, childUnreachable } from './call/children.js';
import { callLate } from './call/late.js';
import { ownerRefused, ownerWaits, programCalls, takeOwnerAnswer, takeOwnerAnswers } from './call/owner.js';
import { INPUT_TIMER, STOP_TIMER, WALL_TIMER } from './call/waiting.js';
import { compactionGaveUp, windowCompacted } from './model/compact.js';
import { planFailed, stepCompleted, stepFailed } from './model/step.js';
import { toolsetDecided, toolsetsRefreshed } from './model/toolsets.js';
import { drive } from './run/drive.js';
import { adopt, takeCommand, takeUserInput } from './run/inputs.js';
import type { Next } from './run/moves.js';
import { completed } from './run/run.js';
import { stopAnyhow } from './run/stop.js';
import { place, report } from './transcript/say.js';
import { wholeWindow } from './transcript/window.js';

/** The tables of a session. */
const TABLES = {
  queue: queuedInput,
  children: childEntry,
  /** The name of a child, by the key of its session. */
  child_names: z.string().max(64),
  agents: spawnable,
  details: storedDetail,
  toolsets: knownToolset,
  turn_calls: turnCall,
  allowances: allowance,
  ended: endedRun,
  written_off: limitAmounts,
} as const;

const EVENTS = {
  'aos.agent/AgentAdopted@1': creates(from(agentAdopted, by.outside, by.maker)),
  'aos.agent/UserInput@1': from(userInput, by.outside, by.maker),
  // Makers of an agent above pause and close its sessions when its own cell has failed, and a project stops those of a job.
  'aos.agent/HostCommand@1': from(
    sessionCommand,
    by.outside,
    by.maker,
    by.above('society/Entity@1'),
    by.above('society/Swarm@1'),
    by.above('specialists/Project@1'),
  ),
  /** Has the session tell its maker again how its last run stands: for a maker that has failed and was revived. */
  'aos.agent/Report@1': from(z.strictObject({}), by.maker),
  ...fromAll(
    {
      'aos.agent/LlmStepCompleted@1': contract.llmStepCompleted,
      'aos.agent/LlmStepFailed@1': contract.llmStepFailed,
      'aos.agent/Compacted@1': contract.compacted,
      'aos.agent/CompactionFailed@1': contract.compactionFailed,
      'aos.agent/ToolResult@1': contract.toolResult,
      'aos.agent/ToolsetsRefreshed@1': contract.toolsetsRefreshed,
      'aos.agent/ToolsetDecided@1': contract.toolsetDecision,
    },
    by.ownPlan,
  ),
  'aos.agent/ChildNotice@1': from(contract.childNotice, session('child_names')),
  ...fromAll(
    {
      'aos.agent/OwnerAnswer@1': ownerAnswer,
      'aos.agent/OwnerAnswers@1': ownerAnswers,
      'aos.agent/OwnerParked@1': ownerParked,
    },
    by.maker,
  ),
  'aos.agent/OwnerCalled@1': from(ownerCalled, by.adapter),
  'sys/TimerFired@1': NOTICES['sys/TimerFired@1'],
  'sys/PlanFailed@1': NOTICES['sys/PlanFailed@1'],
  'sys/EffectWaiting@1': NOTICES['sys/EffectWaiting@1'],
  'sys/EffectGoesOn@1': NOTICES['sys/EffectGoesOn@1'],
  'sys/EffectLate@1': NOTICES['sys/EffectLate@1'],
  'sys/Undeliverable@1': NOTICES['sys/Undeliverable@1'],
  'sys/ChildFailed@1': NOTICES['sys/ChildFailed@1'],
  'sys/Reply@1': NOTICES['sys/Reply@1'],
} as const;

type Tables = typeof TABLES;
type Events = EventOf<typeof EVENTS, Tables>;
type Handlers = {
  readonly [N in Events['name']]: (
    draft: SessionState,
    value: Extract<Events, { name: N }>['value'],
    ctx: ReducerContext<Tables>,
    row: RowOf<(typeof EVENTS)[N], Tables>,
  ) => Next;
};

const HANDLERS: Handlers = {
  'aos.agent/AgentAdopted@1': adopt,
  'aos.agent/UserInput@1': takeUserInput,
  'aos.agent/HostCommand@1': takeCommand,
  'aos.agent/Report@1': (draft, _, ctx) => report(draft, ctx),
  'aos.agent/LlmStepCompleted@1': (draft, value, ctx) =>
    isStale(draft, value, 'aos.agent/LlmStepCompleted@1', ctx) ? undefined : stepCompleted(draft, value, ctx),
  'aos.agent/LlmStepFailed@1': (draft, value, ctx) =>
    isStale(draft, value, 'aos.agent/LlmStepFailed@1', ctx) ? undefined : stepFailed(draft, value, ctx),
  'aos.agent/Compacted@1': (draft, value, ctx) =>
    isStale(draft, value, 'aos.agent/Compacted@1', ctx) ? undefined : windowCompacted(draft, value, ctx),
  'aos.agent/CompactionFailed@1': (draft, value, ctx) =>
    isStale(draft, value, 'aos.agent/CompactionFailed@1', ctx) ? undefined : compactionGaveUp(draft, value, ctx),
  'aos.agent/ToolResult@1': (draft, value, ctx) =>
    isStale(draft, value, 'aos.agent/ToolResult@1', ctx) ? undefined : callSettled(draft, value, ctx),
  'aos.agent/ToolsetsRefreshed@1': (draft, value, ctx) =>
    isStale(draft, value, 'aos.agent/ToolsetsRefreshed@1', ctx) ? undefined : toolsetsRefreshed(draft, value, ctx),
  'aos.agent/ToolsetDecided@1': toolsetDecided,
  'aos.agent/ChildNotice@1': childNews,
  'aos.agent/OwnerAnswer@1': takeOwnerAnswer,
  'aos.agent/OwnerAnswers@1': takeOwnerAnswers,
  'aos.agent/OwnerParked@1': ownerWaits,
  'aos.agent/OwnerCalled@1': programCalls,
  'sys/TimerFired@1': (draft, { name }, ctx) => timerFired(draft, name, ctx),
  'sys/PlanFailed@1': (draft, { plan }, ctx) => planFailed(draft, plan[2], ctx),
  'sys/EffectWaiting@1': callWaits,
  'sys/EffectGoesOn@1': callContinues,
  'sys/EffectLate@1': (draft, value, ctx) => {
    callLate(draft, value, ctx);
    return undefined;
  },
  'sys/Undeliverable@1': childUnreachable,
  'sys/ChildFailed@1': childFailed,
  'sys/Reply@1': ownerRefused,
};

/** The reducer of sessions, made when it is first used. */
export const sessionReducer = reducerOnUse(contract.SESSION_REDUCER, () =>
  defineReducer({
    name: contract.SESSION_REDUCER,
    state: sessionState,
    events: EVENTS,
    facts: SESSION_FACTS,
    logs: { transcript: transcriptItem },
    tables: TABLES,
    init: (_key, event) => firstState(event),
    reduce(draft, event, ctx) {
      const handle = HANDLERS[event.name] as (
        draft: SessionState,
        value: unknown,
        ctx: ReducerContext,
        row: unknown,
      ) => Next;
      drive(draft, handle(draft, event.value, ctx, event.row), ctx);
    },
  }),
);

function firstState(event: Events): SessionState {
  // Only an adoption creates a session, so every session has a definition.
  const { def_ref, config, depth, tell_owner, labels } = (
    event as Extract<Events, { name: 'aos.agent/AgentAdopted@1' }>
  ).value;
  return {
    status: 'Open',
    def_ref,
    config,
    config_rev: 0,
    lifecycle: 'Idle',
    waiting: null,
    suspended: null,
    stopping: null,
    session_epoch: 0,
    step_epoch: 0,
    runs: 0,
    inputs: 0,
    run: null,
    calls: [],
    late: [],
    window: wholeWindow(),
    context_pressure: 0,
    steers: [],
    queued: 0,
    queue_suspended: false,
    children: 0,
    spawned: 0,
    depth: depth ?? 0,
    tell_owner: tell_owner ?? false,
    labels: labels ?? {},
    items: 0,
    asked: null,
    last: null,
  };
}

function timerFired(draft: SessionState, name: string, ctx: ReducerContext): Next {
  if (name === STOP_TIMER) return stopAnyhow(draft, ctx);
  if (name === INPUT_TIMER) {
    const listens = draft.run !== null && draft.waiting?.for === 'input';
    return listens ? { do: 'end', stop: completed(draft) } : undefined;
  }
  if (name === WALL_TIMER) return wallReached(draft, ctx);
  return name.startsWith('wait.') ? waitIsOver(draft, name, ctx) : undefined;
}

/** Stops a run whose time is over. A run with `pause_and_ask` is not stopped here: its next step meets the limit. */
function wallReached(draft: SessionState, ctx: ReducerContext): Next {
  const { run } = draft;
  if (run === null || draft.stopping !== null || run.config.limits.on_limit === 'pause_and_ask') return undefined;
  const { max_wall_ms = 0 } = run.config.limits;
  const used = workedMs(run, ctx.now);
  ctx.record('aos.agent/LimitReached@1', { ...place(draft), limit: 'max_wall_ms', used, of: max_wall_ms });
  return { do: 'stop', stopping: { commands: [], stop: { kind: 'LimitsExceeded', limit: 'max_wall_ms' } } };
}

/**
 * Whether an event may arrive outside the current step: results of ended steps, and events that no plan of the step
 * sends.
 */
function isStale(
  draft: SessionState,
  fence: { session_epoch: number; step_epoch: number },
  event: string,
  ctx: ReducerContext,
): boolean {
  const { session_epoch, step_epoch } = fence;
  const known = [draft.run?.step_plan, ...draft.calls.map(({ plan }) => plan)].includes(ctx.plan ?? -1);
  const current = session_epoch === draft.session_epoch && step_epoch === draft.step_epoch && known;
  if (!current) ctx.record('aos.agent/StaleIgnored@1', { event, session_epoch, step_epoch });
  return !current;
}
