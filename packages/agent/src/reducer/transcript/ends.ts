/**
 * How accepted inputs and commands end.
 *
 * Invariants
 * N1  An accepted input is either shown to a model once (`TurnStarted`), or dropped once (`InputDropped`).
 * N2  An accepted command is applied once or dropped once, under its own id and its own name.
 */
import type { ReducerContext } from '@reprise/kernel/define';
import type { SessionCommand } from '../../contracts/commands.js';
import type { CommandDrop } from '../../contracts/facts.js';
import type { InputDrop } from '../../contracts/lifecycle.js';
import type { QueuedInput, SessionState } from '../../contracts/state.js';
import { atHand, place } from './say.js';

interface Command {
  readonly command_id: string;
  readonly type: SessionCommand['type'];
}

/** Records that a command was applied. */
export function applied(draft: SessionState, { command_id, type }: Command, ctx: ReducerContext): void {
  const { step } = place(draft);
  ctx.record('aos.agent/HostCommandApplied@1', { command_id, type, step, ...atHand(draft) });
}

/** Records that a command will not be applied. */
export function dropCommand(
  draft: SessionState,
  { command_id, type }: Command,
  why: CommandDrop,
  ctx: ReducerContext,
): void {
  ctx.record('aos.agent/HostCommandDropped@1', { command_id, type, why, ...atHand(draft) });
}

/** A waiting input was shown to the model; when a command brought it, that command is applied. */
export function inputSaid(draft: SessionState, { kind, command_id }: QueuedInput, ctx: ReducerContext): void {
  if (kind === 'follow_up') applied(draft, { command_id, type: 'FollowUp' }, ctx);
}

/** A waiting input will not be shown to the model. */
export function dropQueued(draft: SessionState, input: QueuedInput, why: InputDrop, ctx: ReducerContext): void {
  const { run, joins, kind, command_id } = input;
  ctx.record('aos.agent/InputDropped@1', { run, command_id, ...(joins ? { turn: true as const } : {}), why });
  if (kind === 'follow_up') dropCommand(draft, { command_id, type: 'FollowUp' }, why, ctx);
}

/** No step will take up the waiting steers. */
export function dropSteers(draft: SessionState, ctx: ReducerContext): void {
  for (const { command_id } of draft.steers) dropCommand(draft, { command_id, type: 'Steer' }, 'run_ended', ctx);
  draft.steers = [];
}

/** The summary that is due will not be written. */
export function dropDue(draft: SessionState, why: CommandDrop, ctx: ReducerContext): void {
  const command_id = draft.window.due?.command_id ?? null;
  draft.window.due = null;
  if (command_id !== null) dropCommand(draft, { command_id, type: 'Compact' }, why, ctx);
}
