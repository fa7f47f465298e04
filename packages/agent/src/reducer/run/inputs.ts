/** Inputs, definitions and commands from outside. Each is accepted or refused, and both are recorded as facts. */
import type { InputPart } from '@reprise/contracts';
import type * as z from '@reprise/contracts/schema';
import { allRows, type ReducerContext } from '@reprise/kernel/define';
import type {
  agentAdopted,
  Rejection,
  RunCause,
  SessionCommand,
  sessionCommand,
  userInput,
} from '../../contracts/commands.js';
import type { ConfigPatch, LimitsPatch, RunLimits } from '../../contracts/config.js';
import { type QueuedInput, type SessionState, STOP_COMMANDS_MAX } from '../../contracts/state.js';
import { refuseAllowance, takeAllowance } from '../account/allowances.js';
import { weighCall } from '../account/budget.js';
import { asSteered, batchLimit, stepLimit } from '../account/limits.js';
import { closeChildren, spawnForHost, stopChildren } from '../call/children.js';
import { goOn, goOnBehindChildren, INPUT_TIMER, park, setWallTimer, startWaiting, unpark } from '../call/waiting.js';
import { compactSoon } from '../model/compact.js';
import { askNothing } from '../model/toolsets.js';
import { applied, dropCommand, dropDue } from '../transcript/ends.js';
import { REACTIONS, type Trigger } from '../transcript/lifecycle-table.js';
import { atHand, moveTo, tellAccepted, tellAgain, tellOwner } from '../transcript/say.js';
import { CONFIG_BYTES_MAX, LABELS_BYTES_MAX, STEERS_BYTES_MAX, sizeOf } from '../transcript/sizes.js';
import { dropContent } from '../transcript/window.js';
import type { Next } from './moves.js';
import { clearQueue, enqueue, QUEUE_MAX, withdraw } from './queue.js';

/** The answer of a command handler: a refusal, or the accepted fields and the next move. */
type Taken =
  | { readonly refused: Rejection }
  | {
      readonly refused?: never;
      readonly more?: object;
      readonly next?: Next;
      /** The command is applied, or dropped, later. */
      readonly ends?: 'later';
    };

type Handlers = {
  readonly [T in SessionCommand['type']]: (
    draft: SessionState,
    command: Extract<SessionCommand, { type: T }>,
    asked: { readonly command_id: string; readonly ctx: ReducerContext },
  ) => Taken;
};

const TRIGGER: Readonly<Record<SessionCommand['type'], Trigger>> = {
  Steer: 'steer',
  FollowUp: 'follow_up',
  Reconfigure: 'reconfigure',
  Pause: 'pause',
  Resume: 'resume',
  Cancel: 'cancel',
  Retry: 'retry',
  Withdraw: 'withdraw',
  Spawn: 'spawn',
  Compact: 'compact',
  Drop: 'drop',
  Close: 'close',
};

/** How many steers may wait for the next step. */
const STEERS_MAX = 16;

const HANDLERS: Handlers = {
  Steer: (draft, { type: _, ...said }, { command_id, ctx }) => {
    const { parts } = said;
    const bytes = sizeOf([...draft.steers, parts]);
    if (draft.steers.length >= STEERS_MAX || bytes > STEERS_BYTES_MAX) return { refused: 'too_many_steers' };
    draft.steers.push({ command_id, ...said });
    if (draft.lifecycle !== 'WaitingInput' || draft.waiting?.for !== 'input') return { ends: 'later' };
    goOn(draft, ctx);
    return { ends: 'later', next: { do: 'step' } };
  },
  FollowUp: (draft, { type: _, ...said }, { command_id, ctx }) => {
    const cause: RunCause = { kind: 'follow_up', command_id };
    const taken = takeInput(draft, { ...said, command_id, priority: 0, cause, kind: 'follow_up' }, ctx);
    return taken.refused === undefined ? { ...taken, ends: 'later' } : taken;
  },
  Reconfigure: (draft, { patch }, { ctx }) => reconfigure(draft, patch, ctx),
  Pause: (draft, _command, { ctx }) => {
    park(draft, ctx);
    ctx.clearTimer(INPUT_TIMER);
    moveTo(draft, 'Paused', ctx);
    return {};
  },
  Resume: (draft, _command, { ctx }) => (draft.lifecycle === 'Paused' ? resume(draft, ctx) : releaseQueue(draft)),
  Cancel: (draft, command, { command_id, ctx }) => cancel(draft, command, command_id, ctx),
  Retry: (draft, { run }, { ctx }) => {
    const { last, asked } = draft;
    if (last === null || asked === null || (run ?? last.run) !== last.run) return { refused: 'nothing_to_retry' };
    // An owner sends its inputs itself, and counts the runs: it has a retry of its own.
    if (draft.tell_owner !== false && ctx.parent !== null) return { refused: 'has_owner' };
    const number = draft.runs++;
    draft.queue_suspended = false;
    tellAgain(asked, { run: number, moved_from: last.run }, ctx);
    return { more: { run: number }, next: { do: 'again', number } };
  },
  Withdraw: (draft, { command_id }, { ctx }) => {
    return takeBackSteer(draft, command_id, ctx) || withdraw(draft, command_id, ctx)
      ? {}
      : { refused: 'unknown_command' };
  },
  Spawn: (draft, command, { command_id, ctx }) => {
    const session = spawnForHost(draft, command, command_id, ctx);
    return session === undefined ? { refused: 'too_many_children' } : { more: { session } };
  },
  Compact: (draft, _command, { command_id }) => {
    if ((draft.run?.config ?? draft.config).compaction === null) return { refused: 'compaction_off' };
    if (draft.window.due !== null) return { refused: 'already_compacting' };
    compactSoon(draft, 'command', command_id);
    return { ends: 'later' };
  },
  Drop: (draft, { content }) => {
    const refused = dropContent(draft, content);
    return refused === undefined ? {} : { refused };
  },
  Close: (draft, { at_once }, { command_id, ctx }) => {
    draft.status = 'Closed';
    clearQueue(draft, 'closed', ctx);
    dropDue(draft, 'closed', ctx);
    closeChildren(draft, ctx);
    askNothing(ctx);
    tellOwner(draft, { kind: 'closed' }, ctx);
    if (draft.run === null) return {};
    if (draft.stopping !== null) {
      const { commands, stop } = draft.stopping;
      draft.stopping = { commands: [...commands, { command_id, type: 'Close' }], stop: stop ?? { kind: 'Cancelled' } };
      return at_once === true ? { ends: 'later', next: { do: 'give_up' } } : { ends: 'later' };
    }
    const stopping = { commands: [{ command_id, type: 'Close' as const }], stop: { kind: 'Cancelled' as const } };
    return { ends: 'later', next: { do: 'stop', stopping, ...(at_once === true ? { at_once } : {}) } };
  },
};

/** Takes a command, or refuses it: a refusal is recorded and changes nothing else. */
export function takeCommand(
  draft: SessionState,
  { command_id, expected_epoch, command }: z.infer<typeof sessionCommand>,
  ctx: ReducerContext,
): Next {
  const { type } = command;
  const taken = judge(draft, expected_epoch, type) ?? execute(draft, command, { command_id, ctx });
  if (taken.refused !== undefined) {
    ctx.record('aos.agent/HostCommandRejected@1', { command_id, type, code: taken.refused, ...atHand(draft) });
    return undefined;
  }
  ctx.record('aos.agent/HostCommandAccepted@1', { command_id, type, ...taken.more, ...atHand(draft) });
  if (taken.ends === undefined) applied(draft, { command_id, type }, ctx);
  return taken.next;
}

function execute<T extends SessionCommand['type']>(
  draft: SessionState,
  command: Extract<SessionCommand, { type: T }>,
  asked: { readonly command_id: string; readonly ctx: ReducerContext },
): Taken {
  return (HANDLERS[command.type as T] as Handlers[T])(draft, command, asked);
}

function judge(
  draft: SessionState,
  epoch: number | undefined,
  type: SessionCommand['type'],
): { readonly refused: Rejection } | undefined {
  if (draft.status === 'Closed') return { refused: 'session_closed' };
  if (epoch !== undefined && epoch !== draft.session_epoch) return { refused: 'stale_epoch' };
  const reaction = REACTIONS[TRIGGER[type]][draft.lifecycle];
  return typeof reaction === 'object' ? reaction : undefined;
}

/** Takes an input, or refuses it and tells the owner. */
export function takeUserInput(draft: SessionState, value: z.infer<typeof userInput>, ctx: ReducerContext): Next {
  const { command_id, allowance } = value;
  const closed = draft.status === 'Closed';
  const taken = closed ? ({ refused: 'session_closed' } as const) : takeInput(draft, { ...value, kind: 'input' }, ctx);
  if (taken.refused === undefined) return taken.next;
  refuseAllowance(draft, allowance, ctx);
  ctx.record('aos.agent/HostCommandRejected@1', { command_id, type: 'Input', code: taken.refused, ...atHand(draft) });
  // The owner of this session waits for an answer to each input.
  tellOwner(draft, { kind: 'closed' }, ctx);
  return undefined;
}

/** An input starts a run, becomes the next turn of a run that waits for input, or joins the queue. */
function takeInput(
  draft: SessionState,
  {
    allowance,
    ...given
  }: Omit<QueuedInput, 'run' | 'joins' | 'parts' | 'allowance'> & {
    readonly parts: readonly InputPart[];
    readonly allowance?: z.infer<typeof userInput>['allowance'];
  },
  ctx: ReducerContext,
): Taken {
  const listens = draft.lifecycle === 'WaitingInput' && draft.waiting?.for === 'input';
  const stays = draft.run !== null && draft.run.config.after_answer !== 'complete' && draft.stopping === null;
  const joins = listens || stays;
  const queued = draft.run !== null && !listens;
  if (queued && draft.queued >= QUEUE_MAX) return { refused: 'queue_full' };
  const run = joins && draft.run !== null ? draft.run.number : draft.runs++;
  const pays = takeAllowance(allowance, ctx);
  const paid = pays === undefined ? {} : { allowance: pays };
  const input: QueuedInput = { ...given, parts: [...given.parts], run, joins, ...paid };
  draft.inputs++;
  tellAccepted(input, queued, ctx);
  if (queued) enqueue(draft, input, ctx);
  const next: Next = queued ? undefined : { do: listens ? 'turn' : 'start', input };
  return { more: { run }, ...(next === undefined ? {} : { next }) };
}

/** Adopts a definition, and takes the input that came with it. */
export function adopt(draft: SessionState, value: z.infer<typeof agentAdopted>, ctx: ReducerContext): Next {
  const next = adoptDefinition(draft, value, ctx);
  const { input } = value;
  if (input === undefined) return next;
  // Without a run there is nothing to go on with, and with one the input only waits: at most one of the two is a move.
  return takeUserInput(draft, input, ctx) ?? next;
}

/** Adopts a definition: for the next run, from the next step on, or not at all when the session is pinned. */
function adoptDefinition(
  draft: SessionState,
  { def_ref, config, adopt: when, agents, labels = {} }: z.infer<typeof agentAdopted>,
  ctx: ReducerContext,
): Next {
  if (!config.models.includes(config.model)) ctx.reject('unknown_model');
  if (config.price === null && config.limits.max_micro_money !== undefined) ctx.reject('model_without_price');
  if (sizeOf(config) > CONFIG_BYTES_MAX) ctx.reject('definition_too_large');
  if (sizeOf(labels) > LABELS_BYTES_MAX) ctx.reject('labels_too_large');
  const table = ctx.table('agents');
  for (const [name] of allRows(table)) table.delete(name);
  for (const agent of agents) table.set(agent.config.agent, agent);
  const isNew = draft.config_rev === 0;
  if (when === 'pin' && !isNew) return undefined;
  draft.def_ref = def_ref;
  draft.config = config;
  draft.config_rev++;
  if (when === 'next_step' && draft.run !== null) {
    Object.assign(draft.run, { def_ref, config, config_rev: draft.config_rev });
  }
  tellConfig(draft, when === 'next_run' && draft.run !== null ? draft.runs : null, ctx);
  setWallTimer(draft, ctx);
  return afterLimit(draft, ctx);
}

function reconfigure(draft: SessionState, patch: ConfigPatch, ctx: ReducerContext): Taken {
  const { model, options, limits, ...rest } = patch;
  if (model !== undefined && !draft.config.models.includes(model)) return { refused: 'unknown_model' };
  const change = ({ price: known, system_bytes, ...config }: SessionState['config']): SessionState['config'] => ({
    ...config,
    ...(rest.system_ref !== undefined || system_bytes === undefined ? {} : { system_bytes }),
    ...(model !== undefined || known === undefined ? {} : { price: known }),
    ...rest,
    model: model ?? config.model,
    options: options ?? config.options,
    limits: patched(config.limits, limits ?? {}),
  });
  const config = change(draft.config);
  const running = draft.run === null ? null : change(draft.run.config);
  if ([config, running].some((one) => one !== null && sizeOf(one) > CONFIG_BYTES_MAX))
    return { refused: 'config_too_large' };
  const paid = (draft.run?.allowance?.micro_money ?? null) !== null;
  const limited = (one: typeof running) => one?.price === null && (paid || one.limits.max_micro_money !== undefined);
  if (limited(config) || limited(running)) return { refused: 'model_without_price' };
  draft.config = config;
  draft.config_rev++;
  if (draft.run !== null && running !== null)
    Object.assign(draft.run, { config: running, config_rev: draft.config_rev });
  tellConfig(draft, null, ctx);
  setWallTimer(draft, ctx);
  return { next: afterLimit(draft, ctx) };
}

function patched(limits: RunLimits, { max_tokens, max_micro_money, max_wall_ms, ...rest }: LimitsPatch): RunLimits {
  const next: Record<string, unknown> = { ...limits, ...rest };
  for (const [name, limit] of Object.entries({ max_tokens, max_micro_money, max_wall_ms })) {
    if (limit === null) delete next[name];
    else if (limit !== undefined) next[name] = limit;
  }
  return next as RunLimits;
}

function tellConfig(draft: SessionState, from_run: number | null, ctx: ReducerContext): void {
  const { config_rev, def_ref, config } = draft;
  ctx.record('aos.agent/ConfigChanged@1', { config_rev, def_ref, model: config.model, from_run, ...atHand(draft) });
}

/** Resumes a run that waits at a limit, once no limit forbids its next move. */
function afterLimit(draft: SessionState, ctx: ReducerContext): Next {
  const { run, suspended } = draft;
  if (run === null) return undefined;
  if (draft.waiting?.for !== 'limit') return goOnBehindChildren(draft, ctx);
  if ((suspended === 'calls' ? batchLimit(run, draft.calls.length) : nextStepLimit(draft, run, ctx)) !== undefined)
    return undefined;
  goOn(draft, ctx);
  if (draft.lifecycle === 'Paused') return undefined;
  return goOnWith(draft);
}

function nextStepLimit(draft: SessionState, run: NonNullable<SessionState['run']>, ctx: ReducerContext) {
  return stepLimit(asSteered(draft, run), ctx.now) ?? weighCall(draft, run, run.config.price).reached;
}

/** The move with which a suspended run continues. */
function goOnWith(draft: SessionState): Next {
  const { suspended } = draft;
  draft.suspended = null;
  if (suspended === 'answer') return { do: 'finish' };
  if (suspended === 'calls') return { do: 'batch' };
  if (suspended === 'step') return { do: 'step' };
  return draft.calls.length > 0 ? { do: 'schedule' } : undefined;
}

function resume(draft: SessionState, ctx: ReducerContext): Taken {
  const { waiting } = draft;
  moveTo(draft, 'Running', ctx);
  draft.waiting = null; // what the run still waits for is found again
  if (waiting?.for === 'limit') {
    startWaiting(draft, 'limit', ctx);
    return {};
  }
  unpark(draft, ctx);
  if (waiting?.for === 'input') return { next: { do: 'listen', until: waiting.until } };
  const next = goOnWith(draft);
  return next === undefined ? {} : { next };
}

function releaseQueue(draft: SessionState): Taken {
  if (!draft.queue_suspended) return { refused: 'nothing_to_resume' };
  draft.queue_suspended = false;
  return { next: { do: 'next' } };
}

/** Withdraws a waiting steer. @returns whether there was one */
function takeBackSteer(draft: SessionState, command_id: string, ctx: ReducerContext): boolean {
  const at = draft.steers.findIndex((steer) => steer.command_id === command_id);
  if (at < 0) return false;
  draft.steers.splice(at, 1);
  dropCommand(draft, { command_id, type: 'Steer' }, 'withdrawn', ctx);
  return true;
}

function cancel(
  draft: SessionState,
  { scope, reason_ref }: Extract<SessionCommand, { type: 'Cancel' }>,
  command_id: string,
  ctx: ReducerContext,
): Taken {
  const { run, stopping } = draft;
  if (run === null && (scope !== 'all' || draft.queued === 0)) return { refused: 'nothing_to_cancel' };
  if (stopping !== null && stopping.commands.length >= STOP_COMMANDS_MAX) return { refused: 'cancelling' };
  if (scope === 'all') clearQueue(draft, 'cancelled', ctx);
  const more = { scope, still_queued: draft.queued, ...(reason_ref === undefined ? {} : { reason_ref }) };
  if (run === null) return { more };
  const stop = scope === 'turn' && run.config.after_answer !== 'complete' ? null : ({ kind: 'Cancelled' } as const);
  const command = { command_id, type: 'Cancel' as const };
  if (stopping === null) return { more, ends: 'later', next: { do: 'stop', stopping: { commands: [command], stop } } };
  if (stop !== null && stopping.stop === null) stopChildren(draft, ctx);
  draft.stopping = { commands: [...stopping.commands, command], stop: stopping.stop ?? stop };
  return { more, ends: 'later' };
}
