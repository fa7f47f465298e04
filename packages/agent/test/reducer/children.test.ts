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
  it('spawn makes a session that runs, and its parent continues [CHILD-1]', () =>
    family({}, (s) => {
      parents(s);
      expect([last(s), s.lifecycle(), s.lifecycle(C1)]).toEqual(['result s0: c1 running', 'Running', 'Running']);
      expect(s.transcript(C1)).toEqual(['parent: t20']);
      expect(s.state(C1).depth).toBe(1);
    }));

  it('spawn of an agent that is not listed is refused as data [CHILD-9]', () =>
    family({}, (s) => {
      parents(s, 1, { agent: 'nobody' });
      expect(last(s)).toBe('result s0: (failed tool_args_invalid/unknown_agent)');
    }));

  it('spawn of an agent with an invalid definition makes a failed child, and the parent reads so', () =>
    family(
      {},
      (s) => {
        parents(s);
        s.answer({ calls: [wait('w', ['c1'], 'all')] });
        expect(last(s)).toBe('result w: c1 failed internal_invariant_violation/unreachable');
      },
      { model: 'gone' },
    ));

  it('spawn goes as deep as the limits of the parents permit', () =>
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

  it('spawn is possible again when one of the permitted number of children is closed', () =>
    family({ limits: { max_children: 1 } }, (s) => {
      parents(s, 2);
      expect(last(s)).toBe('result s1: (denied cap_denied/children)');
      s.answer({ calls: [close('c'), spawn('again')] });
      expect(last(s)).toBe('result again: c2 running');
    }));

  it('spawn by the app is refused when the session has sixty-four children', () =>
    play({}, (s) => {
      const agent = { def_ref: refOf(2), config: { ...CONFIG, agent: 'helper' } };
      const make = () => s.command({ type: 'Spawn', agent, agents: [], parts });
      for (let n = 1; n <= 64; n++) expect(make()).toMatchObject({ session: `root.c${n}` });
      expect(make()).toMatchObject({ code: 'too_many_children' });
    }));

  it('spawn of an agent that belongs to an older definition is refused as data', () =>
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
  it('a wait for all children ends when the last is done [CHILD-4]', () =>
    family({}, (s) => {
      parents(s, 2);
      s.answer({ calls: [wait('w', ['c1', 'c2'], 'all')] });
      expect(s.lifecycle()).toBe('WaitingInput: children');
      s.answer({}, C1);
      expect(s.lifecycle()).toBe('WaitingInput: children');
      s.answer({}, 'root.c2');
      expect([last(s), s.lifecycle()]).toEqual(['result w: c1 completed, c2 completed', 'Running']);
    }));

  it('a wait for any child ends when the first is done [CHILD-4]', () =>
    family({}, (s) => {
      parents(s, 2);
      s.answer({ calls: [wait('w', ['c1', 'c2'], 'any')] });
      s.answer({}, 'root.c2');
      expect(last(s)).toBe('result w: c1 running, c2 completed');
    }));

  it('a wait ends at its deadline, with the results so far [CHILD-4]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c1'], 'all', 1_000)] });
      s.later(1_000);
      expect([last(s), s.lifecycle()]).toEqual(['result w: c1 running', 'Running']);
    }));

  it('a wait for an unknown child ends at once [CHILD-5]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c9'], 'all')] });
      expect(last(s)).toBe('result w: c9 absent');
    }));

  it('a wait continues while a child waits for a person', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c1'], 'all')] });
      s.answer({ calls: [{ id: 'x', approval: {} }] }, C1);
      expect([s.lifecycle(C1), s.lifecycle()]).toEqual(['WaitingInput: approval', 'WaitingInput: children']);
      expect(told(s)).toEqual(['c1 spawned', 'c1 waiting']);
    }));

  it('a wait reports a failed child as data [CHILD-5]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c1'], 'all')] });
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false }, C1);
      expect([last(s), s.lifecycle()]).toEqual(['result w: c1 failed provider_error_terminal', 'Running']);
    }));

  it('a wait ends when a child fails that has more inputs', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [send('m'), wait('w', ['c1'], 'all')] });
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false }, C1);
      expect([s.state(C1).queued, last(s)]).toEqual([1, 'result w: c1 failed provider_error_terminal']);
    }));

  it('a wait ends when the app closes the child [CHILD-5]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [wait('w', ['c1'], 'all')] });
      s.command({ type: 'Close' }, { key: C1 });
      expect(last(s)).toBe('result w: c1 closed');
      expect(s.state().children).toBe(0);
    }));

  it('a wait of a paused parent ends, and the parent continues when it is resumed', () =>
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
  it('send_input to an idle child begins another run of it [CHILD-6]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({}, C1);
      s.answer({ calls: [send('m'), wait('w', ['c1'], 'all')] });
      expect([s.lifecycle(C1), s.state(C1).runs]).toEqual(['Running', 2]);
      s.answer({}, C1);
      expect(last(s)).toBe('result w: c1 completed');
    }));

  it('send_input to a working child waits behind its run, and the child is done after both [CHILD-6]', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [send('m'), wait('w', ['c1'], 'all')] });
      s.answer({}, C1);
      expect(s.lifecycle()).toBe('WaitingInput: children');
      s.answer({}, C1);
      expect(s.lifecycle()).toBe('Running');
    }));

  it('send_input to a child that would stay open after its answer begins a run for each input, since its parent waits for each', () =>
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
  ])('send_input to %s is refused as data', (_what, child) =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [close('x')] });
      s.answer({ calls: [send('m', child)] });
      expect(last(s)).toBe('result m: (failed tool_args_invalid/no_child)');
    }),
  );
});

describe('a cancel', () => {
  it('a cancel of a parent reaches the children that work for it, and their children [CHILD-7]', () =>
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

  it('a cancel of a run reaches a child of an earlier run that works for it', () =>
    family({}, (s) => {
      parents(s);
      s.answer({}, C1);
      s.answer();
      s.input();
      s.answer({ calls: [send('m')] });
      s.command({ type: 'Cancel', scope: 'run' });
      expect(s.state(C1).lifecycle).toBe('Cancelling');
    }));

  it('a cancel with a wider scope than the one under way reaches the children', () =>
    family({ after_answer: { wait_ms: null } }, (s) => {
      parents(s);
      s.command({ type: 'Cancel', scope: 'turn' });
      expect(s.state(C1).lifecycle).toBe('Running');
      s.command({ type: 'Cancel', scope: 'run' });
      expect(s.state(C1).lifecycle).toBe('Cancelling');
    }));

  it('a run that fails cancels its children', () =>
    family({}, (s) => {
      parents(s);
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false });
      expect([s.lifecycle(), s.state(C1).lifecycle]).toEqual(['Failed', 'Cancelling']);
    }));

  it('a run that completes does not cancel its children', () =>
    family({}, (s) => {
      parents(s);
      s.answer();
      expect([s.lifecycle(), s.lifecycle(C1)]).toEqual(['Completed', 'Running']);
    }));
});

describe('close', () => {
  it('closing a session closes all sessions below it [SES-4, CHILD-8]', () =>
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

  it('closing a child in the step of its spawn executes nothing of it', () =>
    family({}, (s) => {
      s.input();
      s.answer({ calls: [spawn('s'), close('c')] });
      expect(s.working('llm.generate@2', C1)).toEqual([]);
      expect(s.state(C1).lifecycle).toBe('Cancelled');
    }));

  it('closing a child answers with its status', () =>
    family({}, (s) => {
      parents(s);
      s.answer({ calls: [close('c')] });
      expect(last(s)).toBe('result c: c1 closed');
    }));
});

describe('the budget of a child', () => {
  const entry = (s: Scene) => s.world.cell(SESSION_REDUCER, 'root');
  const usage = { calls: 1, tokens_in: 30, tokens_out: 10 };

  it('a child’s budget is set aside from what its parent has left, and the unused part is returned [CHILD-2]', () =>
    family({ limits: { max_tokens: 200 } }, (s) => {
      parents(s, 1, { max_tokens: 100 });
      expect(s.state().run?.allocated.tokens).toBe(100);
      expect(s.state(C1).config.limits.max_tokens).toBe(100);
      s.answer({ usage }, C1);
      expect(s.state().run?.allocated.tokens).toBe(0);
      expect(s.state().run?.children_tally).toMatchObject({ tokens_in: 30, tokens_out: 10, steps: 1 });
      expect(entry(s)?.failed).toBeNull();
    }));

  it('a child’s budget is refused when all is set aside for others', () =>
    family({ limits: { max_tokens: 200 } }, (s) => {
      s.input();
      s.answer({ calls: [spawn('a', { max_tokens: 189 }), spawn('b', { max_tokens: 1 })] });
      expect(last(s)).toBe('result b: (denied cap_denied/budget)');
    }));

  it('a child that is closed while it works returns its budget, and its usage counts [LIM-5, CHILD-3]', () =>
    family({ limits: { max_tokens: 200 } }, (s) => {
      parents(s, 1, { max_tokens: 100 });
      s.answer({ calls: [close('c')] });
      s.modelEnds({ status: 'cancelled', usage }, C1);
      expect(s.state().run).toMatchObject({
        allocated: { tokens: 0 },
        children_tally: { tokens_in: 30, tokens_out: 10 },
      });
    }));

  it('a child’s budget counts once, however often its session is unreachable [CHILD-3]', () =>
    family(
      { limits: { max_tokens: 200 } },
      (s) => {
        parents(s, 2, { max_tokens: 50 });
        s.answer({ calls: [send('m')] });
        expect(s.state().run?.allocated.tokens).toBe(0);
        expect(s.state().run?.children_tally.tokens_in).toBe(0);
      },
      { model: 'gone' },
    ));

  it('the budgets of all children never exceed what is left, whatever is requested [CHILD-2]', () =>
    family({ limits: { max_tokens: 200, max_micro_money: 50 } }, (s) => {
      parents(s, 3, { max_tokens: 150, max_micro_money: 40 });
      const { allocated, tally } = s.state().run ?? {
        allocated: { tokens: 0, micro_money: 0 },
        tally: { tokens_in: 0, tokens_out: 0 },
      };
      expect(allocated.tokens + tally.tokens_in + tally.tokens_out).toBeLessThanOrEqual(200);
      expect(allocated.micro_money).toBeLessThanOrEqual(50);
    }));

  it('a child’s budget is at most what is left, whatever is requested', () =>
    family({ limits: { max_tokens: 200, max_micro_money: 50 } }, (s) => {
      parents(s, 1, { max_tokens: 1_000, max_micro_money: 60 });
      expect(s.state(C1).config.limits).toMatchObject({ max_tokens: 189, max_micro_money: 49 }); // the call that spawned it told no price: it counts 1
    }));
});
