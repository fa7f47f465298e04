/** What can happen to a session, as data: a history is a definition and a list of these. */
import fc from 'fast-check';

/** What a model is asked to call, by small numbers that the runner makes calls of. */
export interface CallPlan {
  /** A small number, so that ids come twice. */
  readonly id: number;
  readonly what: 'tool' | 'issue' | 'ask' | 'spawn' | 'send_input' | 'wait' | 'close';
  readonly n: number;
  readonly approval: boolean;
  readonly resource: number | null;
  readonly parallel: boolean;
  readonly polling: boolean;
  readonly guarantee: 'idempotent' | 'at_most_once';
  readonly onUnknown: 'tell_model' | 'ask_human' | 'fail' | 'retry';
  readonly ms: number | null;
}

/** A model's answer. */
export interface AnswerPlan {
  /** It makes the calls that the answer before made. */
  readonly again: boolean;
  readonly calls: readonly CallPlan[];
  readonly finish: 'stop' | 'length' | 'content_filter' | 'error' | 'interrupted' | 'other' | null;
  readonly returns: 'fits' | 'does not' | null;
  readonly tokens: number | null;
  readonly money: number | null;
}

/** What is sent under an epoch that is the session's, or is not. */
type Epoch = 'none' | 'right' | 'stale';

/** A command to a session: the one above all others, or a child of it. */
export type CommandPlan = { readonly step: 'command'; readonly who: number; readonly epoch: Epoch } & (
  | { readonly type: 'Steer' | 'FollowUp' | 'Pause' | 'Resume' | 'Compact' | 'Close' }
  | { readonly type: 'Cancel'; readonly scope: 'turn' | 'run' | 'all' }
  | { readonly type: 'Withdraw'; readonly which: number }
  | { readonly type: 'Reconfigure' | 'Spawn'; readonly change: number }
);

/** One thing that happens. */
export type Happening =
  | { readonly step: 'input'; readonly who: number; readonly priority: number; readonly again: boolean }
  | CommandPlan
  | { readonly step: 'adopt'; readonly when: 'next_run' | 'next_step' | 'pin'; readonly change: number }
  | ({ readonly step: 'answer'; readonly which: number } & AnswerPlan)
  | { readonly step: 'step_fails'; readonly which: number; readonly how: number }
  | { readonly step: 'tool'; readonly which: number; readonly how: number; readonly tokens: number | null }
  | { readonly step: 'decide'; readonly which: number; readonly how: 'approve' | 'edit' | 'deny' }
  | { readonly step: 'settle'; readonly which: number; readonly ok: boolean }
  | { readonly step: 'cancel_effect'; readonly which: number }
  | { readonly step: 'forge'; readonly who: number; readonly how: number }
  | { readonly step: 'time'; readonly ms: number; readonly leap: boolean }
  | { readonly step: 'crash' };

/** The definition that a history begins with. */
export interface DefinitionPlan {
  readonly afterAnswer: 'complete' | 'wait' | number;
  readonly onLimit: 'fail' | 'pause_and_ask';
  readonly loop: number | null;
  readonly repair: boolean;
  readonly grace: number;
  readonly small: number;
  readonly tokens: number | null;
  readonly money: number | null;
  readonly wall: number | null;
  readonly depth: number;
  readonly children: number;
  readonly window: number | null;
  /** How many exchanges stay when the window is compacted; null where it never is. */
  readonly keep: number | null;
  readonly denies: boolean;
}

/** A history. */
export interface History {
  readonly definition: DefinitionPlan;
  readonly happenings: readonly Happening[];
}

const nat = fc.constantFrom(0, 0, 1, 2, 3, 4, 5, 6);
const seldom = <T>(...some: T[]) => fc.constantFrom(null, null, null, null, ...some);
const who = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(3) });
const orNull = <T>(some: fc.Arbitrary<T>, freq = 2) => fc.option(some, { nil: null, freq });
const is = <T extends string>(step: T) => fc.constant(step);

const anyCall: fc.Arbitrary<CallPlan> = fc.record({
  id: fc.nat(9),
  what: fc.constantFrom(
    'tool',
    'tool',
    'tool',
    'tool',
    'issue',
    'ask',
    'spawn',
    'spawn',
    'send_input',
    'wait',
    'wait',
    'close',
  ),
  n: nat,
  approval: fc.constantFrom(true, false, false),
  resource: orNull(fc.nat(1)),
  parallel: fc.constantFrom(true, true, true, false),
  polling: fc.constantFrom(false, false, true),
  guarantee: fc.constantFrom('idempotent', 'at_most_once'),
  onUnknown: fc.constantFrom('tell_model', 'ask_human', 'fail', 'retry'),
  ms: orNull(fc.constantFrom(50, 2_000, 60_000)),
});

const anyAnswer = fc.record({
  step: is('answer'),
  which: nat,
  again: fc.constantFrom(true, false, false),
  calls: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(anyCall, { minLength: 1, maxLength: 5 }) },
  ),
  finish: fc.oneof(
    { weight: 12, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('stop', 'length', 'content_filter', 'error', 'interrupted', 'other') },
  ),
  returns: seldom<'fits' | 'does not'>('fits', 'does not'),
  tokens: orNull(fc.nat(60), 5),
  money: seldom(0, 20, 60),
});

const epoch = fc.constantFrom('none', 'none', 'none', 'right', 'stale');
const anyCommand = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      step: is('command'),
      who,
      epoch,
      type: fc.constantFrom('Steer', 'Steer', 'FollowUp', 'Pause', 'Pause', 'Resume', 'Resume', 'Resume', 'Compact'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      step: is('command'),
      who,
      epoch,
      type: is('Cancel'),
      scope: fc.constantFrom('turn', 'run', 'run', 'all'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ step: is('command'), who, epoch, type: is('Withdraw'), which: nat }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      step: is('command'),
      who,
      epoch,
      type: fc.constantFrom('Reconfigure', 'Reconfigure', 'Spawn'),
      change: nat,
    }),
  },
);

const anyHappening = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      step: is('input'),
      who,
      priority: fc.constantFrom(0, 0, 0, 7, -3),
      again: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 8, arbitrary: anyCommand },
  {
    weight: 1,
    arbitrary: fc.record({ step: is('adopt'), when: fc.constantFrom('next_run', 'next_step', 'pin'), change: nat }),
  },
  { weight: 14, arbitrary: anyAnswer },
  { weight: 1, arbitrary: fc.record({ step: is('step_fails'), which: nat, how: nat }) },
  { weight: 12, arbitrary: fc.record({ step: is('tool'), which: nat, how: fc.nat(9), tokens: orNull(fc.nat(20)) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: is('decide'),
      which: nat,
      how: fc.constantFrom('approve', 'approve', 'edit', 'deny'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ step: is('settle'), which: nat, ok: fc.constantFrom(true, true, false) }) },
  { weight: 1, arbitrary: fc.record({ step: is('cancel_effect'), which: nat }) },
  { weight: 1, arbitrary: fc.record({ step: is('forge'), who, how: nat }) },
  {
    weight: 5,
    arbitrary: fc.record({
      step: is('time'),
      ms: fc.constantFrom(1, 40, 600, 3_000, 3_000, 61_000, 700_000, 200_000_000),
      leap: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: is('crash') }) },
) as fc.Arbitrary<Happening>;

const close: Happening = { step: 'command', who: 0, epoch: 'none', type: 'Close' };

/** Some time in some histories the session is closed. */
const anyHappenings = fc
  .tuple(fc.array(anyHappening, { minLength: 45, maxLength: 60, size: 'max' }), seldom(10, 25, 40))
  .map(([all, closed]) => (closed === null ? all : [...all.slice(0, closed), close, ...all.slice(closed)]));

const anyDefinition: fc.Arbitrary<DefinitionPlan> = fc.record({
  afterAnswer: fc.constantFrom<DefinitionPlan['afterAnswer'][]>('complete', 'complete', 'wait', 2_500),
  onLimit: fc.constantFrom('fail', 'pause_and_ask'),
  loop: orNull(fc.nat(3)),
  repair: fc.boolean(),
  grace: fc.constantFrom(0, 500, 5_000),
  small: fc.constantFrom(1, 3, 5, 50, 50, 50),
  tokens: seldom(50, 200, 1_000),
  money: seldom(50, 200),
  wall: seldom(1_000, 50_000),
  depth: fc.constantFrom(0, 1, 2, 2),
  children: fc.constantFrom(0, 1, 2, 4),
  window: orNull(fc.constantFrom(40, 100)),
  keep: orNull(fc.constantFrom(1, 2, 3)),
  denies: fc.constantFrom(false, false, false, true),
});

/** Any history. */
export const anyHistory: fc.Arbitrary<History> = fc.record({ definition: anyDefinition, happenings: anyHappenings });
