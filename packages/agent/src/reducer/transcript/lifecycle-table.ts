/**
 * The lifecycle of a session's current run, as data: the effect of each command in each state, and the permitted moves.
 * `docs/reference/session-lifecycle.md` is generated from it.
 */
import type { Rejection } from '../../contracts/commands.js';
import { LIFECYCLES, type Lifecycle } from '../../contracts/lifecycle.js';

/** The triggers that come from outside. */
export const TRIGGERS = [
  'input',
  'steer',
  'follow_up',
  'reconfigure',
  'pause',
  'resume',
  'cancel',
  'retry',
  'withdraw',
  'spawn',
  'compact',
  'drop',
  'close',
] as const;

/** A trigger that comes from outside. */
export type Trigger = (typeof TRIGGERS)[number];

/**
 * The effect of a trigger in a state: it `starts` a run, `waits` for the current run (or joins it, when the run waits
 * for input), `acts` on it, or is refused with a code. A refused trigger changes nothing.
 */
type Reaction = 'starts' | 'waits' | 'acts' | { readonly refused: Rejection };

const no = (refused: Rejection): Reaction => ({ refused });

/** The same reaction in every state, except for the states with one of their own. */
function reacts(
  reaction: Reaction,
  but: Readonly<Partial<Record<Lifecycle, Reaction>>> = {},
): Readonly<Record<Lifecycle, Reaction>> {
  const all = Object.fromEntries(LIFECYCLES.map((state) => [state, reaction]));
  return { ...(all as Record<Lifecycle, Reaction>), ...but };
}

/** One reaction for each state without a run. */
function withoutRun(reaction: Reaction) {
  return { Idle: reaction, Completed: reaction, Failed: reaction, Cancelled: reaction };
}

/** The reaction to every trigger in every state of an open session. */
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
  // In a state without a run it takes up the inputs that wait behind a failed or cancelled run.
  resume: reacts('acts', {
    Idle: no('nothing_to_resume'),
    Running: no('nothing_to_resume'),
    WaitingInput: no('nothing_to_resume'),
    Cancelling: no('cancelling'),
  }),
  // In a state without a run, the scope `all` removes the waiting inputs.
  cancel: reacts('acts', { Idle: no('nothing_to_cancel') }),
  // A run that did not complete is answered anew, by a run that goes on with the conversation as it stands.
  retry: reacts(no('nothing_to_retry'), { Failed: 'starts', Cancelled: 'starts' }),
  withdraw: reacts('acts', { Idle: no('unknown_command') }),
  // A child is a session of its own: it needs no run of its parent.
  spawn: reacts('acts'),
  // The summary is written before the next step, of this run or of the next one.
  compact: reacts('acts', { Idle: no('nothing_to_compact') }),
  // What was taken out of the conversation is not shown to the model again, whatever runs.
  drop: reacts('acts'),
  close: reacts('acts'),
};

/** The permitted moves from each state. */
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
