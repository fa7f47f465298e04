/** Writes transcript items and facts, each with its place in the run. */
import type { InputPart, Ref } from '@reprise/contracts';
import type { ReducerContext } from '@reprise/kernel/define';
import type { Lifecycle } from '../../contracts/lifecycle.js';
import type { QueuedInput, SessionState } from '../../contracts/state.js';
import type { TranscriptItem, USER_ORIGINS } from '../../contracts/transcript.js';
import { MOVES } from './lifecycle-table.js';
import { bytesOfParts, countUnread } from './prompt-size.js';
import { followItem, pinNext } from './window.js';

/** A place in the session: the run, its turn and its step. */
export function place({ run }: SessionState): { run: number; turn: number; step: number } {
  return { run: run?.number ?? 0, turn: run?.turns ?? 0, step: run?.tally.steps ?? 0 };
}

/** The place in the current run for facts; empty without a run. */
export function atHand(draft: SessionState): { at?: { run: number; turn: number; step: number } } {
  return draft.run === null ? {} : { at: place(draft) };
}

/** Appends an item to the transcript. */
export function appendItem(draft: SessionState, item: TranscriptItem, ctx: ReducerContext): void {
  followItem(draft, item);
  ctx.append('transcript', item);
  draft.items++;
}

/** Appends a message in the user's role; a message from a person begins a turn. */
export function sayToModel(
  draft: SessionState,
  origin: (typeof USER_ORIGINS)[number],
  {
    parts,
    pin,
    command_id,
  }: { readonly parts: readonly InputPart[]; readonly pin?: true; readonly command_id?: string },
  ctx: ReducerContext,
): void {
  if (pin === true) pinNext(draft);
  if (draft.run !== null && origin !== 'loop' && origin !== 'repair') draft.run.turns++;
  countUnread(draft, bytesOfParts(parts));
  appendItem(draft, { role: 'user', origin, parts: parts.map(unsized) }, ctx);
  const said = command_id === undefined ? {} : { command_id };
  ctx.record('aos.agent/TurnStarted@1', { ...place(draft), origin, ...said });
}

/** The transcript stores the message: the size of a text matters only to the budget, that of a file is told to models. */
function unsized(given: InputPart): InputPart {
  if (given.kind === 'blob') return given;
  const { bytes: _, ...part } = given;
  return part;
}

/** Records which run an input starts, or joins as a turn. */
export function tellAccepted(input: QueuedInput, queued: boolean, ctx: ReducerContext): void {
  const { run, command_id, cause, parts } = input;
  ctx.record('aos.agent/InputAccepted@1', { run, command_id, queued, cause, first_ref: firstRef(parts[0]) });
}

/** Records that an input belongs to another run than announced, because the announced run has ended. */
export function tellMoved(input: QueuedInput, run: number, ctx: ReducerContext): void {
  const { command_id, cause, parts, run: moved_from } = input;
  const first_ref = firstRef(parts[0]);
  ctx.record('aos.agent/InputAccepted@1', { run, command_id, queued: false, cause, first_ref, moved_from });
}

/** The input that a run answers, as the state keeps it. */
export function askedBy({ command_id, cause, parts }: QueuedInput): NonNullable<SessionState['asked']> {
  return { command_id, cause, first_ref: firstRef(parts[0]) };
}

/** Records that an input whose run did not complete is answered by another run. */
export function tellAgain(
  asked: NonNullable<SessionState['asked']>,
  runs: { readonly run: number; readonly moved_from: number },
  ctx: ReducerContext,
): void {
  ctx.record('aos.agent/InputAccepted@1', { ...asked, queued: false, ...runs });
}

/** Begins the turn of an input that the model was shown before: nothing is said again. */
export function turnAgain(draft: SessionState, command_id: string, ctx: ReducerContext): void {
  if (draft.run !== null) draft.run.turns++;
  ctx.record('aos.agent/TurnStarted@1', { ...place(draft), origin: 'input', command_id });
}

function firstRef(part: InputPart | undefined): Ref | null {
  if (part === undefined) return null;
  return part.kind === 'text' ? part.text_ref : part.kind === 'blob' ? part.blob_ref : part.output_ref;
}

/**
 * Changes the lifecycle state and records it. A move that is not in the table is a defect of this reducer, and a fault.
 */
export function moveTo(draft: SessionState, to: Lifecycle, ctx: ReducerContext, more: object = {}): void {
  const from = draft.lifecycle;
  if (!MOVES[from].includes(to)) throw new Error(`no move from ${from} to ${to}`);
  draft.lifecycle = to;
  ctx.record('aos.agent/LifecycleChanged@1', { run: draft.run?.number ?? 0, from, to, ...more });
}

/**
 * Tells the maker again how the last run stands: a run that goes on, waits, or has ended. Nothing where the session has had no run.
 *
 * @returns nothing: the session goes on as it stands
 */
export function report(draft: SessionState, ctx: ReducerContext): undefined {
  const { run, waiting, last, status } = draft;
  if (run !== null && waiting === null) tellOwner(draft, { kind: 'running' }, ctx);
  else if (run !== null && waiting !== null) tellOwner(draft, { kind: 'waiting', for: waiting.for }, ctx);
  else if (last !== null) {
    const { run: _, ...ended } = last;
    tellOwner(draft, { kind: 'settled', ...ended, more: false }, ctx);
  }
  if (status === 'Closed') tellOwner(draft, { kind: 'closed' }, ctx);
  return undefined;
}

/** Sends a notice to the cell that made this session. */
export function tellOwner(draft: SessionState, news: object, ctx: ReducerContext): void {
  if (draft.tell_owner === false || ctx.parent === null) return;
  const value = { session: ctx.address[1], run: draft.run?.number ?? draft.last?.run ?? 0, news };
  ctx.send(ctx.parent, { name: 'aos.agent/ChildNotice@1', value });
}
