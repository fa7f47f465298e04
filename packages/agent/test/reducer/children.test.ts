import type { SessionOp } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { SESSION_REDUCER } from '../../src/contracts/index.js';
import { refOf } from '../histories/content.js';
import { type Change, CONFIG, play, type Scene } from './scene.js';

const parts = [{ kind: 'text' as const, text_ref: refOf(20) }];
const C1 = 'root.c1';

const spawn = (id: string, more: Partial<SessionOp & { op: 'spawn' }> = {}) => ({
  id,
  session: { op: 'spawn' as const, agent: 'helper', parts, ...more },
});
const send = (id: string, child = 'c1') => ({ id, session: { op: 'send_input' as const, child, parts } });
const close = (id: string, child = 'c1') => ({ id, session: { op: 'close' as const, child } });
const wait = (id: string, children: string[], mode: 'any' | 'all', within_ms?: number) => ({
  id,
  session: { op: 'wait' as const, children, mode, ...(within_ms === undefined ? {} : { within_ms }) },
});

/** A parent that has spawned so many helpers. */
function parents(s: Scene, count = 1, more: Partial<SessionOp & { op: 'spawn' }> = {}): void {
  s.input();
  s.answer({ calls: Array.from({ length: count }, (_, i) => spawn(`s${i}`, more)) });
}

const family = (change: Change, act: (s: Scene) => void, helper: Change = {}) =>
  play(change, act, { agents: { helper } });

const last = (s: Scene) => s.transcript().at(-1);
const told = (s: Scene) => s.facts('ChildChanged').map(({ child, status }) => `${child} ${status}`);

describe('spawn', () => {
  it('makes a session that runs, and its parent goes on [CHILD-1]', () =>
    family({}, (s) => {
      parents(s);
      expect([last(s), s.lifecycle(), s.lifecycle(C1)]).toEqual(['result s0: c1 running', 'Running', 'Running']);
      expect(s.transcript(C1)).toEqual(['parent: t20']);
      expect(s.state(C1).depth).toBe(1);
    }));

  it('of an agent that nobody named is refused as data [CHILD-9]', () =>
    family({}, (s) => {
      parents(s, 1, { agent: 'nobody' });
      expect(last(s)).toBe('result s0: (failed tool_args_invalid/unknown_agent)');
    }));

  it('of an agent whose definition no session can take: the child has failed, and the parent reads so', () =>
    family(
      {},
      (s) => {
        parents(s);
        s.answer({ calls: [wait('w', ['c1'], 'all')] });
        expect(last(s)).toBe('result w: c1 failed internal_invariant_violation/unreachable');
      },
      { model: 'gone' },
    ));

  it('goes as deep as the limit of those above says', () =>
    family(
      { limits: { max_depth: 2 } },
      (s) => {
        parents(s);
        s.answer({ calls: [spawn('x')] }, C1);
        s.answer({ calls: [spawn('x')] }, 'root.c1.c1');
        expect(s.transcript('root.c1.c1').at(-1)).toBe('result x: (denied cap_denied/depth)');
      },
      { spawns: ['helper'], limits: { max_depth: 9 } },
    ));

  it('begins again when one of as many as there may be is closed', () =>
    family({ limits: { max_children: 1 } }, (s) => {
      parents(s, 2);
      expect(last(s)).toBe('result s1: (denied cap_denied/children)');
      s.answer({ calls: [close('c'), spawn('again')] });
      expect(last(s)).toBe('result again: c2 running');
    }));

  it('by the host is refused when there are sixty-four', () =>
    play({}, (s) => {
      const agent = { def_ref: refOf(2), config: { ...CONFIG, agent: 'helper' } };
      const make = () => s.command({ type: 'Spawn', agent, agents: [], parts });
      for (let n = 1; n <= 64; n++) expect(make()).toMatchObject({ session: `root.c${n}` });
      expect(make()).toMatchObject({ code: 'too_many_children' });
    }));

  it('of an agent that came with another definition than the one at hand is refused as data', () =>
    family({}, (s) => {
      const config = { ...CONFIG, spawns: ['helper'] };
      s.send('aos.agent/AgentAdopted@1', { def_ref: refOf(2), config, adopt: 'next_run', agents: [] });
      s.input();
      s.answer({ calls: [spawn('a')] });
      expect(last(s)).toMatch(/^result a: \(/);
      expect(told(s)).toEqual([]);
    }));
});

describe('wait', () => {
  it('for all is over when the last is done [CHILD-4]', () =>
    family({}, (s) => {
      parents(s, 2);
      s.answer({ calls: [wait('w', ['c1', 'c2'], 'all')] });
      expect(s.lifecycle()).toBe('WaitingInput: children');
      s.answer({}, C1);
      expect(s.lifecycle()).toBe('WaitingInput: children');
      s.answer({}, 'root.c2');
      expect([last(s), s.lifecycle()]).toEqual(['result w: c1 completed, c2 completed', 'Running']);
    }));

  it('for any is over when the first is done [CHILD-4]', () =>
    family({}, (s) => {
      parents(s, 2);
      s.answer({ calls: [wait('w', ['c1', 'c2'], 'any')] });
      s.answer({}, 'root.c2');
      expect(last(s)).toBe('result w: c1 running, c2 completed');
    }));

  it('is over at its deadline, with what there is [CHILD-4]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c1'], 'all', 1_000)] });
      s.later(1_000);
      expect([last(s), s.lifecycle()]).toEqual(['result w: c1 running', 'Running']);
    }));

  it('for one that is not there is over at once [CHILD-5]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c9'], 'all')] });
      expect(last(s)).toBe('result w: c9 absent');
    }));

  it('goes on while a child waits for somebody itself', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c1'], 'all')] });
      s.answer({ calls: [{ id: 'x', approval: {} }] }, C1);
      expect([s.lifecycle(C1), s.lifecycle()]).toEqual(['WaitingInput: approval', 'WaitingInput: children']);
      expect(told(s)).toEqual(['c1 spawned', 'c1 waiting']);
    }));

  it('learns of a child that failed as data [CHILD-5]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c1'], 'all')] });
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false }, C1);
      expect([last(s), s.lifecycle()]).toEqual(['result w: c1 failed provider_error_terminal', 'Running']);
    }));

  it('is over when a child fails that has more to do', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [send('m'), wait('w', ['c1'], 'all')] });
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false }, C1);
      expect([s.state(C1).queued, last(s)]).toEqual([1, 'result w: c1 failed provider_error_terminal']);
    }));

  it('is over when somebody outside closes the child [CHILD-5]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c1'], 'all')] });
      s.command({ type: 'Close' }, { key: C1 });
      expect(last(s)).toBe('result w: c1 closed');
      expect(s.state().children).toBe(0);
    }));

  it('of a paused parent is over, and the parent goes on when it is resumed', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c1'], 'all')] });
      s.command({ type: 'Pause' });
      s.answer({}, C1);
      expect(s.lifecycle()).toBe('Paused');
      s.command({ type: 'Resume' });
      expect([last(s), s.lifecycle()]).toEqual(['result w: c1 completed', 'Running']);
    }));
});

describe('send_input', () => {
  it('to a child that is done begins another run of it [CHILD-6]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({}, C1);
      s.answer({ calls: [send('m'), wait('w', ['c1'], 'all')] });
      expect([s.lifecycle(C1), s.state(C1).runs]).toEqual(['Running', 2]);
      s.answer({}, C1);
      expect(last(s)).toBe('result w: c1 completed');
    }));

  it('to a child that works waits behind that, and the child is done after both [CHILD-6]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [send('m'), wait('w', ['c1'], 'all')] });
      s.answer({}, C1);
      expect(s.lifecycle()).toBe('WaitingInput: children');
      s.answer({}, C1);
      expect(s.lifecycle()).toBe('Running');
    }));

  it('to a child that would listen after its answer: each input is a run of its own, for its parent waits for each', () =>
    family(
      {},
      (s) => {
        parents(s);
        s.answer({ calls: [wait('w', ['c1'], 'all')] });
        s.answer({}, C1);
        expect([s.lifecycle(C1), last(s)]).toEqual(['Completed', 'result w: c1 completed']);
      },
      { after_answer: { wait_ms: null } },
    ));

  it.each([
    ['one that is not there', 'c9'],
    ['one that is closed', 'c1'],
  ])('to %s is refused as data', (_what, child) =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [close('x')] });
      s.answer({ calls: [send('m', child)] });
      expect(last(s)).toBe('result m: (failed tool_args_invalid/no_child)');
    }),
  );
});

describe('a cancel', () => {
  it('of a parent reaches the children that work for it, and theirs [CHILD-7]', () =>
    family(
      {},
      (s) => {
        parents(s);
        s.answer({ calls: [spawn('x')] }, C1);
        s.command({ type: 'Cancel', scope: 'run' });
        expect([C1, 'root.c1.c1'].map((key) => s.state(key).lifecycle)).toEqual(['Cancelling', 'Cancelling']);
      },
      { spawns: ['helper'] },
    ));

  it('of a run that gives work to a child of an earlier one reaches that child', () =>
    family({}, (s) => {
      parents(s);
      s.answer({}, C1);
      s.answer();
      s.input();
      s.answer({ calls: [send('m')] });
      s.command({ type: 'Cancel', scope: 'run' });
      expect(s.state(C1).lifecycle).toBe('Cancelling');
    }));

  it('that goes farther than the one under way reaches them', () =>
    family({ after_answer: { wait_ms: null } }, (s) => {
      parents(s);
      s.command({ type: 'Cancel', scope: 'turn' });
      expect(s.state(C1).lifecycle).toBe('Running');
      s.command({ type: 'Cancel', scope: 'run' });
      expect(s.state(C1).lifecycle).toBe('Cancelling');
    }));

  it('is what a run that fails is to its children', () =>
    family({}, (s) => {
      parents(s);
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false });
      expect([s.lifecycle(), s.state(C1).lifecycle]).toEqual(['Failed', 'Cancelling']);
    }));

  it('is not what a run that completes is to them', () =>
    family({}, (s) => {
      parents(s);
      s.answer();
      expect([s.lifecycle(), s.lifecycle(C1)]).toEqual(['Completed', 'Running']);
    }));
});

describe('close', () => {
  it('of a session closes all below it [SES-4, CHILD-8]', () =>
    family(
      {},
      (s) => {
        parents(s);
        s.answer({ calls: [spawn('x')] }, C1);
        s.command({ type: 'Close' });
        expect([s.state().status, s.state(C1).status, s.state('root.c1.c1').status]).toEqual([
          'Closed',
          'Closed',
          'Closed',
        ]);
      },
      { spawns: ['helper'] },
    ));

  it('in the step of the spawn: nothing of the child is executed', () =>
    family({}, (s) => {
      s.input();
      s.answer({ calls: [spawn('s'), close('c')] });
      expect(s.working('llm.generate@2', C1)).toEqual([]);
      expect(s.state(C1).lifecycle).toBe('Cancelled');
    }));

  it('of a child answers with what it has become', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [close('c')] });
      expect(last(s)).toBe('result c: c1 closed');
    }));
});

describe('the budget of a child', () => {
  const entry = (s: Scene) => s.world.cell(SESSION_REDUCER, 'root');
  const usage = { calls: 1, tokens_in: 30, tokens_out: 10 };

  it('is set aside from what its parent has left, and given back with what was not used [CHILD-2]', () =>
    family({ limits: { max_tokens: 200 } }, (s) => {
      parents(s, 1, { max_tokens: 100 });
      expect(s.state().run?.carved.tokens).toBe(100);
      expect(s.state(C1).config.limits.max_tokens).toBe(100);
      s.answer({ usage }, C1);
      expect(s.state().run?.carved.tokens).toBe(0);
      expect(s.state().run?.children_tally).toMatchObject({ tokens_in: 30, tokens_out: 10, steps: 1 });
      expect(entry(s)?.failed).toBeNull();
    }));

  it('is refused where all is set aside for others', () =>
    family({ limits: { max_tokens: 200 } }, (s) => {
      s.input();
      s.answer({ calls: [spawn('a', { max_tokens: 189 }), spawn('b', { max_tokens: 1 })] });
      expect(last(s)).toBe('result b: (denied cap_denied/budget)');
    }));

  it('of one that is closed while it works is given back, and what it used counts [LIM-5, CHILD-3]', () =>
    family({ limits: { max_tokens: 200 } }, (s) => {
      parents(s, 1, { max_tokens: 100 });
      s.answer({ calls: [close('c')] });
      s.modelEnds({ status: 'cancelled', usage }, C1);
      expect(s.state().run).toMatchObject({ carved: { tokens: 0 }, children_tally: { tokens_in: 30, tokens_out: 10 } });
    }));

  it('counts once, however often its session is not reached [CHILD-3]', () =>
    family(
      { limits: { max_tokens: 200 } },
      (s) => {
        parents(s, 2, { max_tokens: 50 });
        s.answer({ calls: [send('m')] });
        expect(s.state().run?.carved.tokens).toBe(0);
        expect(s.state().run?.children_tally.tokens_in).toBe(0);
      },
      { model: 'gone' },
    ));

  it('with that of all children never exceeds what is left, whatever is asked for [CHILD-2]', () =>
    family({ limits: { max_tokens: 200, max_micro_money: 50 } }, (s) => {
      parents(s, 3, { max_tokens: 150, max_micro_money: 40 });
      const { carved, tally } = s.state().run ?? {
        carved: { tokens: 0, micro_money: 0 },
        tally: { tokens_in: 0, tokens_out: 0 },
      };
      expect(carved.tokens + tally.tokens_in + tally.tokens_out).toBeLessThanOrEqual(200);
      expect(carved.micro_money).toBeLessThanOrEqual(50);
    }));

  it('is at most what is left, however much was asked for', () =>
    family({ limits: { max_tokens: 200, max_micro_money: 50 } }, (s) => {
      parents(s, 1, { max_tokens: 1_000, max_micro_money: 60 });
      expect(s.state(C1).config.limits).toMatchObject({ max_tokens: 189, max_micro_money: 50 });
    }));
});
