/**
 * The lifecycle of a session's current run, as data: what each command does in each state, and which moves there are.
 * `docs/reference/session-lifecycle.md` is made from it.
 */
import type { Rejection } from '../contracts/commands.js';
import { LIFECYCLES, type Lifecycle } from '../contracts/lifecycle.js';

/** What comes from outside. */
export const TRIGGERS = [
  'input',
  'steer',
  'follow_up',
  'reconfigure',
  'pause',
  'resume',
  'cancel',
  'withdraw',
  'spawn',
  'note',
  'compact',
  'close',
] as const;

/** What comes from outside. */
export type Trigger = (typeof TRIGGERS)[number];

/**
 * What a trigger does in a state: `starts` a run, `waits` for the run at hand (or joins it, where it waits for input),
 * `acts` on it, or is refused with a code. What is refused changes nothing.
 */
export type Reaction = 'starts' | 'waits' | 'acts' | { readonly refused: Rejection };

const no = (refused: Rejection): Reaction => ({ refused });

/** A trigger's reaction in every state, but for the states that say another. */
function reacts(
  reaction: Reaction,
  but: Readonly<Partial<Record<Lifecycle, Reaction>>> = {},
): Readonly<Record<Lifecycle, Reaction>> {
  const all = Object.fromEntries(LIFECYCLES.map((state) => [state, reaction]));
  return { ...(all as Record<Lifecycle, Reaction>), ...but };
}

/** What happens in each state in which there is no run. */
function withoutRun(reaction: Reaction) {
  return { Idle: reaction, Completed: reaction, Failed: reaction, Cancelled: reaction };
}

/** Every trigger in every state of an open session. */
export const REACTIONS: Readonly<Record<Trigger, Readonly<Record<Lifecycle, Reaction>>>> = {
  input: reacts('waits', withoutRun('starts')),
  steer: reacts('acts', { ...withoutRun(no('not_running')), Cancelling: no('cancelling') }),
  follow_up: reacts('waits', withoutRun('starts')),
  reconfigure: reacts('acts'),
  pause: reacts('acts', {
    ...withoutRun(no('nothing_to_pause')),
    Paused: no('already_paused'),
    Cancelling: no('cancelling'),
  }),
  // In a state without a run it takes up inputs that wait behind a run that failed or was cancelled.
  resume: reacts('acts', {
    Idle: no('nothing_to_resume'),
    Running: no('nothing_to_resume'),
    WaitingInput: no('nothing_to_resume'),
    Cancelling: no('cancelling'),
  }),
  // In a state without a run it can take away, with scope `all`, what waits.
  cancel: reacts('acts', { Idle: no('nothing_to_cancel') }),
  withdraw: reacts('acts', { Idle: no('unknown_command') }),
  // A child is a session of its own: it needs no run above it.
  spawn: reacts('acts'),
  note: reacts('acts', { ...withoutRun(no('unknown_call')), Cancelling: no('cancelling') }),
  // Before the next step, of this run or of the next one.
  compact: reacts('acts', { Idle: no('nothing_to_compact') }),
  close: reacts('acts'),
};

/** The moves from each state. No other ever happens. */
export const MOVES: Readonly<Record<Lifecycle, readonly Lifecycle[]>> = {
  Idle: ['Running'],
  Running: ['WaitingInput', 'Paused', 'Cancelling', 'Completed', 'Failed'],
  WaitingInput: ['Running', 'Paused', 'Cancelling', 'Completed'],
  Paused: ['Running', 'Cancelling', 'Failed'],
  Cancelling: ['WaitingInput', 'Failed', 'Cancelled'],
  Completed: ['Running'],
  Failed: ['Running'],
  Cancelled: ['Running'],
};
