import { describe, expect, it } from 'vitest';
import { LIMIT_KINDS, type LimitKind } from '../../src/contracts/index.js';
import { refOf } from '../histories/content.js';
import { type Change, play, type Scene } from './scene.js';

const HELLO = refOf(20);

const spawn = (id: string) => ({
  id,
  session: { op: 'spawn' as const, agent: 'helper', parts: [{ kind: 'text' as const, text_ref: HELLO }] },
});
/** For each limit of a run, a definition that sets it and a play that reaches it. */
const REACHED: Readonly<
  Record<Exclude<LimitKind, 'max_depth' | 'max_children'>, [Change['limits'], (s: Scene) => void]>
> = {
  max_turns: [
    { max_turns: 1 },
    (s) => {
      s.input();
      s.steer();
      s.answer();
    },
  ],
  max_steps: [
    { max_steps: 1 },
    (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a' }] });
      s.toolAnswers('a');
    },
  ],
  max_tool_rounds: [
    { max_tool_rounds: 1 },
    (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a' }] });
      s.toolAnswers('a');
      s.answer({ calls: [{ id: 'b' }] });
    },
  ],
  max_tool_calls_per_step: [
    { max_tool_calls_per_step: 1 },
    (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a' }, { id: 'b' }] });
    },
  ],
  max_tokens: [
    { max_tokens: 11 },
    (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a', issue: 'tool_not_found' }], usage: { calls: 1, tokens_in: 10, tokens_out: 1 } });
    },
  ],
  max_micro_money: [
    { max_micro_money: 5 },
    (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a', issue: 'tool_not_found' }], usage: { calls: 1, micro_money: 5 } });
    },
  ],
  max_wall_ms: [
    { max_wall_ms: 1_000 },
    (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a' }] });
      s.later(1_000);
      if (s.running().length > 0) s.toolAnswers('a');
    },
  ],
};

const kinds = Object.keys(REACHED) as (keyof typeof REACHED)[];

describe('a limit that is reached', () => {
  it.each(kinds)('%s: reaching the limit fails the run, and nothing is under way [SES-5, LIM-1]', (limit) => {
    const [limits = {}, act] = REACHED[limit];
    return play({ limits }, (s) => {
      act(s);
      expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit });
      expect(s.facts('LimitReached').map((fact) => fact.limit)).toEqual([limit]);
      expect([...s.world.open.values()].filter(({ late }) => late === undefined)).toEqual([]);
      const answered = s.transcript().filter((line) => line.startsWith('result')).length;
      const asked = s.facts('LlmStepAnswered').flatMap(({ calls }) => calls as string[]).length;
      expect(answered).toBe(asked);
    });
  });

  it.each(kinds)('%s: with pause_and_ask the run waits, and continues when the limit is raised [LIM-2]', (limit) => {
    const [limits = {}, act] = REACHED[limit];
    return play({ limits: { ...limits, on_limit: 'pause_and_ask' } }, (s) => {
      act(s);
      expect(s.lifecycle()).toBe('WaitingInput: limit');
      const started = s.facts('ToolCallRequested').length + s.facts('LlmStepRequested').length;
      s.command({ type: 'Reconfigure', patch: { limits: { max_steps: 60 } } });
      if (limit !== 'max_steps') expect(s.lifecycle()).toBe('WaitingInput: limit');
      s.command({
        type: 'Reconfigure',
        patch: { limits: { [limit]: limit === 'max_tool_calls_per_step' ? 64 : 50_000 } },
      });
      expect(s.lifecycle()).toBe('Running');
      expect(s.facts('ToolCallRequested').length + s.facts('LlmStepRequested').length).toBeGreaterThan(started);
    });
  });

  it('given a new definition from the next step on that raises the limit, the run continues', () =>
    play({ limits: { max_steps: 1, on_limit: 'pause_and_ask' } }, (s) => {
      REACHED.max_steps[1](s);
      expect(s.lifecycle()).toBe('WaitingInput: limit');
      s.adopt({ limits: { max_steps: 2 } }, 'next_step');
      expect(s.lifecycle()).toBe('Running');
    }));

  it('given a pause while the run waits at a limit that is then raised, the run continues when it is resumed', () =>
    play({ limits: { max_steps: 1, on_limit: 'pause_and_ask' } }, (s) => {
      REACHED.max_steps[1](s);
      s.command({ type: 'Pause' });
      s.command({ type: 'Reconfigure', patch: { limits: { max_steps: 2 } } });
      expect(s.lifecycle()).toBe('Paused');
      expect(s.working('llm.generate@2')).toEqual([]);
      s.command({ type: 'Resume' });
      expect(s.working('llm.generate@2')).toHaveLength(1);
    }));

  it('max_children and max_depth refuse the call, as data that the model reads, and the run continues [LIM-3, CHILD-9]', async () => {
    const agents = { helper: {} };
    await play(
      { limits: { max_children: 1 } },
      (s) => {
        s.input();
        s.answer({ calls: [spawn('a'), spawn('b')] });
        expect(s.transcript()).toContain('result b: (denied cap_denied/children)');
        expect(s.lifecycle()).toBe('Running');
      },
      { agents },
    );
    await play(
      { limits: { max_depth: 0 } },
      (s) => {
        s.input();
        s.answer({ calls: [spawn('a')] });
        expect(s.transcript()).toContain('result a: (denied cap_denied/depth)');
      },
      { agents },
    );
  });

  it('the tested limits are all limits [LIM-1]', () => {
    expect([...kinds, 'max_depth', 'max_children'].sort()).toEqual([...LIMIT_KINDS].sort());
  });
});

describe('the time of a run', () => {
  it('the time of a run does not count while it waits for a person, waits for input or is paused [LIM-4]', () =>
    play({ limits: { max_wall_ms: 1_000 }, after_answer: { wait_ms: null } }, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a', approval: {} }] });
      s.later(500_000);
      s.decide({ approve: true });
      s.toolAnswers('a');
      s.command({ type: 'Pause' });
      s.later(500_000);
      s.command({ type: 'Resume' });
      s.answer();
      expect(s.lifecycle()).toBe('WaitingInput: input');
      s.later(500_000);
      s.input();
      s.later(999);
      expect(s.lifecycle()).toBe('Running');
      s.later(1);
      s.modelEnds({ status: 'cancelled' });
      expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_wall_ms' });
    }));

  it('the time of a run counts while it waits for children, which are its own work', () =>
    play(
      { limits: { max_wall_ms: 1_000 } },
      (s) => {
        s.input();
        s.answer({ calls: [spawn('a')] });
        s.answer({ calls: [{ id: 'w', session: { op: 'wait', children: ['c1'], mode: 'all' } }] });
        expect(s.lifecycle()).toBe('WaitingInput: children');
        s.later(1_000);
        expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_wall_ms' });
      },
      { agents: { helper: {} } },
    ));

  it('the usage that a tool reports counts like a model’s [LIM-5]', () =>
    play({ limits: { max_micro_money: 7 } }, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a' }] });
      s.toolEnds('a', { status: 'error', code: 'adapter_error', usage: { calls: 1, micro_money: 7 } });
      expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_micro_money' });
    }));

  it('the usage of children counts when they are done', () =>
    play(
      { limits: { max_wall_ms: 1_000 } },
      (s) => {
        s.input();
        s.answer({ calls: [spawn('a')] });
        s.answer({ calls: [{ id: 'w', session: { op: 'wait', children: ['c1'], mode: 'all' } }] });
        s.later(600);
        s.answer({}, 'root.c1');
        s.later(399);
        expect(s.lifecycle()).toBe('Running');
        s.later(1);
        s.modelEnds({ status: 'cancelled' });
        expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_wall_ms' });
      },
      { agents: { helper: {} } },
    ));

  it('given a definition with less time for the next step, the run ends sooner', () =>
    play({ limits: { max_wall_ms: 1_000 } }, (s) => {
      s.input();
      s.adopt({ limits: { max_wall_ms: 500 } }, 'next_step');
      s.later(500);
      s.modelEnds({ status: 'cancelled' });
      expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_wall_ms' });
    }));
});
