import { equalBytes } from '@reprise/kernel';
import { type GivenEvent, givenReducer } from '@reprise/testkit';
import { describe, expect, it } from 'vitest';
import { LIFECYCLES, type Lifecycle, type SessionCommand, TERMINAL } from '../../src/contracts/index.js';
import { sessionReducer } from '../../src/reducer/session-reducer.js';
import { MOVES, REACTIONS, TRIGGERS, type Trigger } from '../../src/reducer/transcript/lifecycle-table.js';
import { refOf } from '../histories/content.js';
import { CONFIG, play, Scene } from './scene.js';

/** A call that can still get an answer. */
const CALL = [{ id: 'k1', approval: {} }];

/** Leads a session into a state, with an input behind it wherever one can wait. */
const INTO: Readonly<Record<Lifecycle, (s: Scene) => void>> = {
  Idle: () => undefined,
  Running: (s) => {
    s.input();
    s.answer({ calls: [{ id: 'k1' }] });
    s.input('q');
  },
  WaitingInput: (s) => {
    s.input();
    s.answer({ calls: CALL });
    s.input('q');
  },
  Paused: (s) => {
    INTO.Running(s);
    s.command({ type: 'Pause' });
  },
  Cancelling: (s) => {
    INTO.Running(s);
    s.command({ type: 'Cancel', scope: 'run' });
  },
  // A run that comes before one that is held.
  Completed: (s) => {
    INTO.Failed(s);
    s.input();
    s.answer();
  },
  Failed: (s) => {
    s.input();
    s.input('q');
    s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false });
  },
  Cancelled: (s) => {
    s.input();
    s.input('q');
    s.command({ type: 'Cancel', scope: 'run' });
    s.modelEnds({ status: 'cancelled' });
  },
};

const parts: (SessionCommand & { type: 'Steer' })['parts'] = [{ kind: 'text', text_ref: refOf(1) }];

/** Gives a trigger. */
const GIVE: Readonly<Record<Exclude<Trigger, 'input'>, SessionCommand>> = {
  steer: { type: 'Steer', parts },
  follow_up: { type: 'FollowUp', parts },
  reconfigure: { type: 'Reconfigure', patch: { model: 'other' } },
  pause: { type: 'Pause' },
  resume: { type: 'Resume' },
  cancel: { type: 'Cancel', scope: 'all' },
  retry: { type: 'Retry' },
  withdraw: { type: 'Withdraw', command_id: 'q' },
  spawn: { type: 'Spawn', agent: { def_ref: refOf(2), config: { ...CONFIG, agent: 'helper' } }, agents: [], parts },
  compact: { type: 'Compact' },
  drop: { type: 'Drop', content: 'a'.repeat(64) },
  close: { type: 'Close' },
};

function give(s: Scene, trigger: Trigger) {
  return trigger === 'input' ? s.input('mine') : s.command(GIVE[trigger], { id: 'mine' });
}

const cases = LIFECYCLES.flatMap((state) => TRIGGERS.map((trigger) => [trigger, state] as const));

describe('the lifecycle table', () => {
  it.each(cases)('given %s in %s, the reaction is the one in the table [SES-1, SES-9]', (trigger, state) =>
    play({}, (s) => {
      INTO[state](s);
      expect(s.state().lifecycle).toBe(state);
      const [before, runs, queued] = [s.bytes(), s.state().runs, s.state().queued];
      const said = give(s, trigger);
      const reaction = REACTIONS[trigger][state];
      if (typeof reaction === 'object') {
        expect(said?.code).toBe(reaction.refused);
        expect(equalBytes(before, s.bytes())).toBe(true);
        return;
      }
      expect(said?.code).toBeUndefined();
      expect(said?.command_id).toBe('mine');
      if (reaction === 'starts') expect([s.state().lifecycle, s.state().runs]).toEqual(['Running', runs + 1]);
      if (reaction === 'waits') expect([s.state().lifecycle, s.state().queued]).toEqual([state, queued + 1]);
    }),
  );

  it.each(cases)('given %s in %s of a closed session, it is refused and nothing changes [SES-3]', (trigger, state) =>
    play({}, (s) => {
      INTO[state](s);
      s.command({ type: 'Close' });
      const before = s.bytes();
      expect(give(s, trigger)?.code).toBe('session_closed');
      expect(equalBytes(before, s.bytes())).toBe(true);
    }),
  );

  it.each(LIFECYCLES)('given a stale epoch in %s, every command is refused and nothing changes [SES-13]', (state) =>
    play({}, (s) => {
      INTO[state](s);
      const before = s.bytes();
      const epoch = s.state().session_epoch + 1;
      for (const command of Object.values(GIVE)) expect(s.command(command, { epoch })?.code).toBe('stale_epoch');
      expect(equalBytes(before, s.bytes())).toBe(true);
    }),
  );

  it.each(LIFECYCLES)('given a model that is not listed in %s, Reconfigure is refused and nothing changes', (state) =>
    play({}, (s) => {
      INTO[state](s);
      const before = s.bytes();
      const patch = { model: 'gone', limits: { max_steps: 1 } };
      expect(s.command({ type: 'Reconfigure', patch })?.code).toBe('unknown_model');
      expect(equalBytes(before, s.bytes())).toBe(true);
    }),
  );
});

/** A scene for each move of the table. */
const MADE: Readonly<Record<string, (s: Scene) => void>> = {
  'Idle → Running': (s) => void s.input(),
  'Running → WaitingInput': INTO.WaitingInput,
  'Running → Paused': INTO.Paused,
  'Running → Cancelling': INTO.Cancelling,
  'Running → Completed': (s) => {
    s.input();
    s.answer();
  },
  'Running → Failed': INTO.Failed,
  'WaitingInput → Running': (s) => {
    INTO.WaitingInput(s);
    s.decide({ approve: true });
  },
  'WaitingInput → Paused': (s) => {
    INTO.WaitingInput(s);
    s.command({ type: 'Pause' });
  },
  'WaitingInput → Cancelling': (s) => {
    INTO.WaitingInput(s);
    s.command({ type: 'Close' });
  },
  'WaitingInput → Completed': (s) => {
    s.adopt({ after_answer: { wait_ms: 10 } });
    s.input();
    s.answer();
    s.later(10);
  },
  'Paused → Running': (s) => {
    INTO.Paused(s);
    s.command({ type: 'Resume' });
  },
  'Paused → Cancelling': (s) => {
    INTO.Paused(s);
    s.command({ type: 'Cancel', scope: 'run' });
  },
  'Paused → Failed': (s) => {
    s.input();
    s.command({ type: 'Pause' });
    s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false });
  },
  'Cancelling → WaitingInput': (s) => {
    s.adopt({ after_answer: { wait_ms: null } });
    s.input();
    s.command({ type: 'Cancel', scope: 'turn' });
    s.modelEnds({ status: 'cancelled' });
  },
  'Cancelling → Failed': (s) => {
    s.adopt({ limits: { max_wall_ms: 1_000 } });
    s.input();
    s.later(1_000);
    s.modelEnds({ status: 'cancelled' });
  },
  'Cancelling → Cancelled': INTO.Cancelled,
  'Completed → Running': (s) => {
    INTO.Completed(s);
    s.command({ type: 'Resume' });
  },
  'Failed → Running': (s) => {
    INTO.Failed(s);
    s.command({ type: 'Resume' });
  },
  'Cancelled → Running': (s) => {
    INTO.Cancelled(s);
    s.followUp();
  },
};

describe('the moves of the table', () => {
  it.each(Object.keys(MADE))('the move %s is reachable [SES-2]', (move) =>
    play({}, (s) => {
      MADE[move]?.(s);
      expect(s.moves()).toContain(move);
    }),
  );

  it('the reducer makes no move that is not in the table [SES-2]', () => {
    const listed = LIFECYCLES.flatMap((from) => MOVES[from].map((to) => `${from} → ${to}`));
    expect(Object.keys(MADE).sort()).toEqual(listed.sort());
  });
});

const fence = ({ session_epoch, step_epoch }: { session_epoch: number; step_epoch: number }) => ({
  session_epoch,
  step_epoch,
});
const plan = (n: number): [string, string, number] => ['aos.agent/SessionReducer@1', 'root', n];
const planFailed = (n: number) => ({
  name: 'sys/PlanFailed@1',
  value: { plan: plan(n), name: 'aos.agent/tool_call_plan@1', code: 'threw' },
});
const settledFact = (outcome: object) => ({
  name: 'aos.agent/ToolCallSettled@1',
  value: { run: 0, turn: 1, step: 1, call_id: 'a', tool: 'echo', outcome },
});
const tally = { steps: 1, tokens_in: 1, tokens_out: 1, micro_money: 1 };
const settled = { kind: 'settled', stop: { kind: 'Completed' }, output_ref: null, value_ref: null, tally, more: false };

/** What the kernel, a plan or a child may tell. */
const NOTICES: Readonly<Record<string, (s: Scene) => GivenEvent[]>> = {
  'a step that was answered': (s) => [
    {
      name: 'aos.agent/LlmStepCompleted@1',
      from: plan(0),
      value: {
        ...fence(s.state()),
        output_ref: refOf(1),
        by: { profile: 'p', model: 'm' },
        finish_reason: 'stop',
        tool_calls: [],
        request_bytes: 1,
      },
    },
  ],
  'a step that failed': (s) => [
    {
      name: 'aos.agent/LlmStepFailed@1',
      from: plan(0),
      value: { ...fence(s.state()), code: 'adapter_timeout', retryable: true },
    },
  ],
  'a result': (s) => [
    {
      name: 'aos.agent/ToolResult@1',
      from: plan(1),
      value: { ...fence(s.state()), call_id: 'k1', outcome: { non_execution: { kind: 'failed' } } },
    },
  ],
  'a child': () => [
    {
      name: 'aos.agent/ChildNotice@1',
      from: ['aos.agent/SessionReducer@1', 'root.c1'],
      value: { session: 'root.c1', run: 0, news: settled },
    },
  ],
  'a timer': () =>
    ['wall', 'input', 'stop', 'wait.0', 'wait.x', 'other'].map((name) => ({
      name: 'sys/TimerFired@1',
      value: { name, due: 1 },
    })),
  'a plan that failed': () => [0, 1, 99].map(planFailed),
  'an effect that waits': () =>
    ['approval', 'settlement', 'answer'].map((what) => ({
      name: 'sys/EffectWaiting@1',
      value: { effect: 'e'.repeat(64), name: 'tool.call@1', plan: plan(1), for: what, to: null },
    })),
  'an effect that goes on': () => [
    { name: 'sys/EffectGoesOn@1', value: { effect: 'e'.repeat(64), name: 'tool.call@1', plan: plan(1) } },
  ],
  'a late answer': () => [
    {
      name: 'sys/EffectLate@1',
      value: {
        effect: 'e'.repeat(64),
        name: 'tool.call@1',
        plan: plan(1),
        params: { call_id: 'k1', tool: 'echo' },
        settled: 'timeout',
        status: 'ok',
        payload: { model_output_ref: refOf(1) },
      },
    },
  ],
  'a child that has failed': () => [
    {
      name: 'sys/ChildFailed@1',
      value: { cell: ['aos.agent/SessionReducer@1', 'root.c1'], code: 'threw' },
    },
  ],
  'an event that came back': () => [
    {
      name: 'sys/Undeliverable@1',
      value: {
        to: ['aos.agent/SessionReducer@1', 'root.c1'],
        event: 'aos.agent/UserInput@1',
        code: 'cell_absent',
      },
    },
  ],
};

const commandEvent = (command: SessionCommand): GivenEvent => ({
  name: 'aos.agent/HostCommand@1',
  value: { command_id: command.type, command },
});

const told = LIFECYCLES.flatMap((state) => Object.keys(NOTICES).map((what) => [what, state] as const));

describe('events from inside a session', () => {
  it.each(told)('given %s in %s, there is no fault, and no move that is not in the table [SES-1]', (what, state) => {
    const s = new Scene();
    INTO[state](s);
    for (const closed of [false, true]) {
      // A child's notice comes from a child: the session makes it first, and a closed one takes no command to make it.
      const earlier = what !== 'a child' ? [] : [GIVE.spawn, ...(closed ? [GIVE.close] : [])];
      const before = { ...s.state(), status: closed && earlier.length === 0 ? 'Closed' : 'Open' };
      for (const event of NOTICES[what]?.(s) ?? []) {
        const given = givenReducer(sessionReducer, { key: 'root' }).state(before);
        given
          .events(...earlier.map(commandEvent))
          .when(event)
          .then({});
      }
    }
  });

  it('given plans that never report, a stopping run ends all the same [SES-18, SES-19]', () => {
    const s = new Scene();
    INTO.Cancelling(s);
    const at = { run: 0, turn: 1, step: 1 };
    const outcome = { non_execution: { kind: 'outcome_unknown' } };
    const usage = { steps: 1, tokens_in: 10, tokens_out: 1, micro_money: 0 };
    const stop = { kind: 'Cancelled' };
    givenReducer(sessionReducer, { key: 'root' })
      .state(s.state())
      .when({ name: 'sys/TimerFired@1', value: { name: 'stop', due: 1 } })
      .then({
        facts: [
          { name: 'aos.agent/ToolCallSettled@1', value: { ...at, call_id: 'k1', tool: 'echo', outcome } },
          { name: 'aos.agent/HostCommandApplied@1', value: { command_id: 'c1', type: 'Cancel', step: 1, at } },
          {
            name: 'aos.agent/LifecycleChanged@1',
            value: { run: 0, from: 'Cancelling', to: 'Cancelled', stop, usage, output_ref: refOf(5) },
          },
        ],
        timers: {},
      });
  });

  it.each(TERMINAL)('given a model’s answer in %s, it is stale and changes nothing [SES-20]', (state) => {
    const s = new Scene();
    INTO[state](s);
    const before = s.state();
    const stale = { event: 'aos.agent/LlmStepCompleted@1', ...fence(before) };
    for (const event of NOTICES['a step that was answered']?.(s) ?? [])
      givenReducer(sessionReducer, { key: 'root' })
        .state(before)
        .when(event)
        .then({ state: before, facts: [{ name: 'aos.agent/StaleIgnored@1', value: stale }], sends: [], intents: [] });
  });

  it.each([
    ['its step', 0],
    ['a call', 1],
  ] as const)('given the plan of %s that fails by its own fault, the run fails', (_, calls) => {
    const s = new Scene();
    s.input();
    if (calls > 0) s.answer({ calls: [{ id: 'a' }] });
    const {
      run,
      calls: [call],
    } = s.state();
    const stop = { kind: 'Failed', code: 'internal_invariant_violation', retryable: false, stage: 'plan' };
    const outcome = { non_execution: { kind: 'outcome_unknown', code: stop.code } };
    const usage = run?.tally;
    const said = run?.output_ref == null ? {} : { output_ref: run.output_ref };
    givenReducer(sessionReducer, { key: 'root' })
      .state(s.state())
      .when(planFailed(call?.plan ?? run?.step_plan ?? -1))
      .then({
        facts: [
          ...(calls === 0 ? [] : [settledFact(outcome)]),
          { name: 'aos.agent/LifecycleChanged@1', value: { run: 0, from: 'Running', to: 'Cancelling' } },
          {
            name: 'aos.agent/LifecycleChanged@1',
            value: { run: 0, from: 'Cancelling', to: 'Failed', stop, usage, ...said },
          },
        ],
      });
  });

  it('given a plan that does not belong to the current run, its failure changes nothing in the run', () => {
    const s = new Scene();
    s.input();
    givenReducer(sessionReducer, { key: 'root' }).state(s.state()).when(planFailed(99)).then({ facts: [] });
  });
});
