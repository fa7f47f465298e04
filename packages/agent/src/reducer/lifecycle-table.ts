/**
 * The lifecycle of a session's current run, as data: what each command does in each state, and which moves there are.
 * `docs/reference/session-lifecycle.md` is made from it.
 */
import type { Rejection } from '../contracts/commands.js';
import type { Lifecycle } from '../contracts/lifecycle.js';

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

/** Every trigger in every state of an open session. */
export const REACTIONS: Readonly<Record<Trigger, Readonly<Record<Lifecycle, Reaction>>>> = {
  input: {
    Idle: 'starts',
    Running: 'waits',
    WaitingInput: 'waits',
    Paused: 'waits',
    Cancelling: 'waits',
    Completed: 'starts',
    Failed: 'starts',
    Cancelled: 'starts',
  },
  steer: {
    Idle: no('not_running'),
    Running: 'acts',
    WaitingInput: 'acts',
    Paused: 'acts',
    Cancelling: no('cancelling'),
    Completed: no('not_running'),
    Failed: no('not_running'),
    Cancelled: no('not_running'),
  },
  follow_up: {
    Idle: 'starts',
    Running: 'waits',
    WaitingInput: 'waits',
    Paused: 'waits',
    Cancelling: 'waits',
    Completed: 'starts',
    Failed: 'starts',
    Cancelled: 'starts',
  },
  reconfigure: {
    Idle: 'acts',
    Running: 'acts',
    WaitingInput: 'acts',
    Paused: 'acts',
    Cancelling: 'acts',
    Completed: 'acts',
    Failed: 'acts',
    Cancelled: 'acts',
  },
  pause: {
    Idle: no('nothing_to_pause'),
    Running: 'acts',
    WaitingInput: 'acts',
    Paused: no('already_paused'),
    Cancelling: no('cancelling'),
    Completed: no('nothing_to_pause'),
    Failed: no('nothing_to_pause'),
    Cancelled: no('nothing_to_pause'),
  },
  // In a state without a run it takes up inputs that wait behind a run that failed or was cancelled.
  resume: {
    Idle: no('nothing_to_resume'),
    Running: no('nothing_to_resume'),
    WaitingInput: no('nothing_to_resume'),
    Paused: 'acts',
    Cancelling: no('cancelling'),
    Completed: 'acts',
    Failed: 'acts',
    Cancelled: 'acts',
  },
  // In a state without a run it can take away, with scope `all`, what waits.
  cancel: {
    Idle: no('nothing_to_cancel'),
    Running: 'acts',
    WaitingInput: 'acts',
    Paused: 'acts',
    Cancelling: 'acts',
    Completed: 'acts',
    Failed: 'acts',
    Cancelled: 'acts',
  },
  withdraw: {
    Idle: no('unknown_command'),
    Running: 'acts',
    WaitingInput: 'acts',
    Paused: 'acts',
    Cancelling: 'acts',
    Completed: 'acts',
    Failed: 'acts',
    Cancelled: 'acts',
  },
  // A child is a session of its own: it needs no run above it.
  spawn: {
    Idle: 'acts',
    Running: 'acts',
    WaitingInput: 'acts',
    Paused: 'acts',
    Cancelling: 'acts',
    Completed: 'acts',
    Failed: 'acts',
    Cancelled: 'acts',
  },
  note: {
    Idle: no('unknown_call'),
    Running: 'acts',
    WaitingInput: 'acts',
    Paused: 'acts',
    Cancelling: no('cancelling'),
    Completed: no('unknown_call'),
    Failed: no('unknown_call'),
    Cancelled: no('unknown_call'),
  },
  // Before the next step, of this run or of the next one.
  compact: {
    Idle: no('nothing_to_compact'),
    Running: 'acts',
    WaitingInput: 'acts',
    Paused: 'acts',
    Cancelling: 'acts',
    Completed: 'acts',
    Failed: 'acts',
    Cancelled: 'acts',
  },
  close: {
    Idle: 'acts',
    Running: 'acts',
    WaitingInput: 'acts',
    Paused: 'acts',
    Cancelling: 'acts',
    Completed: 'acts',
    Failed: 'acts',
    Cancelled: 'acts',
  },
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
