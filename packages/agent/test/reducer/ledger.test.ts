import type { SessionOp } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { SESSION_REDUCER } from '../../src/contracts/index.js';
import { llmGenerate } from '../../src/plans/effects.js';
import type { AtWork } from '../histories/bare-world.js';
import { refOf } from '../histories/content.js';
import { type Change, play, type Scene } from './scene.js';

const parts = [{ kind: 'text' as const, text_ref: refOf(20) }];
const spawn = (id: string, more: Partial<SessionOp & { op: 'spawn' }> = {}) => ({
  id,
  session: { op: 'spawn' as const, agent: 'helper', parts, ...more },
});
const send = (id: string, child = 'c1') => ({ id, session: { op: 'send_input' as const, child, parts } });
const C1 = 'root.c1';
const C2 = 'root.c1.c1';

const family = (change: Change, act: (s: Scene) => void, helper: Change = {}) =>
  play(change, act, { agents: { helper: { options: { max_tokens: 60 }, ...helper } } });

const results = (s: Scene) => s.transcript().filter((line) => line.startsWith('result'));
const differences = (s: Scene) => s.facts('UsageDiffers').map(({ how }) => how);
const dropped = (s: Scene) => s.facts('HostCommandDropped').map(({ command_id, why }) => `${command_id}: ${why}`);

/** The model call that is at work. */
function atWork(s: Scene, key = 'root'): AtWork {
  const [work] = s.working(llmGenerate.name, key);
  if (work === undefined) throw new Error('no model is asked');
  return work;
}

describe('the allowance of children', () => {
  const price = { in: 1_000_000, out: 1_000_000 };
  const inMoney = { limits: { max_micro_money: 1_000 }, price, options: { max_tokens: 60 } };
  const usage = { calls: 1, tokens_in: 10, tokens_out: 40, micro_money: 50 };

  it('a reserve is returned once, in money as in tokens, also from a grandchild that ends last [CHILD-3, CHILD-10]', () =>
    family(
      inMoney,
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s', { max_micro_money: 600 })], usage });
        s.answer({ calls: [spawn('s', { max_micro_money: 300 })], usage }, C1);
        s.answer({ usage }, C1);
        expect([s.lifecycle(C1), s.state().run?.allocated.micro_money]).toEqual(['Completed', 300]);
        s.answer({ usage }, C2);
        expect(s.state().run).toMatchObject({
          allocated: { micro_money: 0 },
          children_tally: { micro_money: 150 },
        });
      },
      { price, spawns: ['helper'] },
    ));

  it('the reserves of several inputs from one run to a child add up [CHILD-2]', () =>
    family(
      { limits: { max_tokens: 1_000 }, options: { max_tokens: 60 } },
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s'), send('m')] });
        expect(s.state(C1).run?.allowance).toEqual({ run: 0, tokens: 200, micro_money: null });
        s.answer({ usage: { calls: 1, tokens_in: 10, tokens_out: 40 } }, C1);
        expect(s.state(C1).run?.allowance).toEqual({ run: 0, tokens: 350, micro_money: null });
      },
      { limits: { max_tokens: 200 } },
    ));

  it('only the cell that made a child can add to its allowance [CHILD-2]', () =>
    family({ limits: { max_tokens: 1_000 }, options: { max_tokens: 60 } }, (s) => {
      s.input();
      s.answer({ calls: [spawn('s', { max_tokens: 200 })] });
      const allowance = { run: 0, tokens: 5_000, micro_money: null };
      const input = { parts: [s.text()], command_id: 'mine', priority: 0, cause: { kind: 'operator' }, allowance };
      s.send('aos.agent/UserInput@1', input, C1);
      s.answer({ usage }, C1);
      expect([s.state(C1).run?.allowance, s.state().run?.allocated.tokens]).toEqual([null, 0]);
    }));

  it('an earlier run’s allowance pays nothing for a run whose own allowance is used up [CHILD-2]', () =>
    family({ limits: { max_tokens: 1_000 }, options: { max_tokens: 60 } }, (s) => {
      s.input();
      s.answer({ calls: [spawn('s', { max_tokens: 200 })] });
      s.answer({ usage: { calls: 1, tokens_in: 0, tokens_out: 1 } });
      s.input();
      s.answer({ calls: [spawn('all'), send('m')] });
      expect(results(s).at(-1)).toBe('result m: (denied cap_denied/budget)');
    }));

  it('the allowance of an input that the child refused is returned with the rest when its other inputs have ended [CHILD-3]', () =>
    family(
      { limits: { max_tokens: 1_000 }, options: { max_tokens: 60 } },
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s'), { id: 'w' }] });
        for (let n = 0; n < 256; n++) s.input(`fill${n}`, { key: C1 });
        s.toolAnswers('w');
        expect(s.state().run?.allocated.tokens).toBe(200);
        s.answer({ calls: [send('m'), { id: 'v' }], usage: { calls: 1, tokens_in: 0, tokens_out: 1 } });
        expect(s.facts('HostCommandRejected', C1)).toMatchObject([{ code: 'queue_full' }]);
        s.answer({ usage }, C1);
        expect(s.state().run).toMatchObject({
          allocated: { tokens: 0 },
          children_tally: { tokens_in: 10, tokens_out: 40 },
        });
      },
      { limits: { max_tokens: 200 } },
    ));

  it('a used or returned allowance leaves no entry in the child', () =>
    family({ limits: { max_tokens: 1_000 }, options: { max_tokens: 60 } }, (s) => {
      const rows = () => s.world.cell(SESSION_REDUCER, C1)?.tables?.allowances?.size ?? 0;
      s.input();
      s.answer({ calls: [spawn('s', { max_tokens: 500 })] });
      expect(rows()).toBe(1);
      s.answer({ usage }, C1);
      expect(rows()).toBe(0);
    }));

  it('every run below states the run at the root of its tree', () =>
    family(
      { limits: { max_depth: 3 } },
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s')] });
        s.answer({ calls: [spawn('s')] }, C1);
        expect([C1, C2].map((key) => s.state(key).run?.cause)).toMatchObject([
          { root: 'root/r0' },
          { root: 'root/r0' },
        ]);
      },
      { spawns: ['helper'] },
    ));

  it('a child with a limit in money is refused when its model has no price, as data that the model reads [LIM-13]', () =>
    family(
      inMoney,
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s')], usage });
        expect(results(s)).toEqual(['result s: (denied cap_denied/model_without_price)']);
      },
      { price: null },
    ));

  it('a step waits for reserves of children also when their sum is exactly what it needs [CHILD-11]', () =>
    family({ limits: { max_tokens: 160 }, options: { max_tokens: 60 } }, (s) => {
      s.input();
      s.answer({ calls: [spawn('s', { max_tokens: 100 })], usage });
      expect([s.state().run?.allocated.tokens, s.lifecycle()]).toEqual([100, 'WaitingInput: children']);
      s.answer({ usage: { calls: 1, tokens_in: 0, tokens_out: 0 } }, C1);
      expect([s.lifecycle(), s.state().run?.reserve]).toEqual(['Running', { tokens: 110, micro_money: 0 }]);
    }));
});

describe('the reported usage of a model call', () => {
  const usage = { calls: 1, tokens_in: 10, tokens_out: 40 };
  const open = { limits: { max_tokens: 100_000 }, options: { max_tokens: 100 }, after_answer: { wait_ms: null } };

  it('the usage of a model call counts in every limited unit, whatever it omits in others [LIM-12]', () =>
    play(open, (s) => {
      s.input();
      s.answer({ finish: 'interrupted', usage });
      expect([differences(s), s.state().run?.abandoned]).toEqual([[], []]);
    }));

  it('a late usage report counts once and is then forgotten; a late answer without usage changes nothing [LIM-12]', () =>
    play(open, (s) => {
      for (const late of [{ usage }, {}]) {
        s.input();
        const work = atWork(s);
        s.command({ type: 'Cancel', scope: 'turn' });
        s.later(7_000);
        expect(s.state().run?.abandoned).toHaveLength(1);
        s.world.answer(work, { status: 'cancelled', ...late });
      }
      expect(s.state().run).toMatchObject({ tally: { tokens_in: 10, tokens_out: 40 }, abandoned: [{ tokens: 101 }] });
      expect(differences(s)).toEqual(['unknown', 'late', 'unknown']);
    }));

  it('late usage is awaited from only as many calls of a run as the bound permits', () =>
    play(open, (s) => {
      for (let n = 0; n < 10; n++) {
        s.input();
        s.command({ type: 'Cancel', scope: 'turn' });
        s.later(7_000);
      }
      expect(s.state().run).toMatchObject({ unaccounted: { tokens: 1_010 } });
      expect(s.state().run?.abandoned).toHaveLength(8);
    }));
});

describe('a summary', () => {
  const compacting: Change = { compaction: { at: 85, keep: 1, model: null, ask_ref: refOf(18) } };

  /** A summary that a command asked for is being written. */
  function beginsSummary(s: Scene, id: string): AtWork {
    s.input();
    for (let n = 0; n < 3; n++) s.answer({ calls: [{ id: 'a', issue: 'tool_not_found' }] });
    s.answer();
    s.command({ type: 'Compact' }, { id });
    s.input();
    const work = atWork(s);
    expect(work.leaf.params).toHaveProperty('summarise');
    return work;
  }

  it('a summary that is written or due when its session closes at once is dropped [SES-11]', () =>
    play(compacting, (s) => {
      beginsSummary(s, 'c');
      s.command({ type: 'Compact' }, { id: 'd' });
      s.command({ type: 'Close', at_once: true });
      expect(dropped(s)).toEqual(['d: closed', 'c: closed']);
    }));

  it('a summary whose run is cancelled while it is written is dropped when its call has ended [SES-11]', () =>
    play(compacting, (s) => {
      beginsSummary(s, 'c');
      s.command({ type: 'Cancel', scope: 'run' });
      s.later(7_000);
      expect([s.stop(), dropped(s)]).toEqual([{ kind: 'Cancelled' }, ['c: compaction_failed']]);
    }));

  it('a summary without items to cover is dropped, and not checked against the budget', () =>
    play(
      {
        limits: { max_micro_money: 1_000 },
        options: { max_tokens: 100 },
        price: { in: 1_000_000, out: 1_000_000 },
        compaction: { at: 85, keep: 4, model: 'other', price: { in: 1, out: 1_000_000_000 }, ask_ref: refOf(18) },
      },
      (s) => {
        s.input();
        s.answer();
        s.command({ type: 'Compact' }, { id: 'c' });
        s.input();
        expect(s.facts('CompactionGaveUp')).toMatchObject([{ code: 'nothing_to_compact' }]);
        expect([s.lifecycle(), dropped(s)]).toEqual(['Running', ['c: compaction_failed']]);
      },
    ));
});

describe('a cancel', () => {
  it('a cancel of a turn ends a run that would be over after its answer [SES-22]', () =>
    play({}, (s) => {
      s.input();
      s.command({ type: 'Cancel', scope: 'turn' });
      s.modelEnds({ status: 'cancelled' });
      expect(s.stop()).toEqual({ kind: 'Cancelled' });
    }));

  it('a cancel of a turn reaches no child of a run that continues, however often it is sent [SES-22]', () =>
    family({ after_answer: { wait_ms: null } }, (s) => {
      s.input();
      s.answer({ calls: [spawn('s')] });
      for (let n = 0; n < 2; n++) s.command({ type: 'Cancel', scope: 'turn' });
      s.modelEnds({ status: 'cancelled' });
      expect([s.lifecycle(), s.lifecycle(C1)]).toEqual(['WaitingInput: input', 'Running']);
    }));
});

describe('Close at once', () => {
  it.each([false, true])(
    'Close with at_once ends running work without its grace (behind a cancel: %s) [SES-4]',
    (behind) =>
      play({ limits: { max_tokens: 400 }, options: { max_tokens: 100 } }, (s) => {
        s.input();
        if (behind) s.command({ type: 'Cancel', scope: 'run' });
        s.command({ type: 'Close', at_once: true });
        expect([s.stop(), differences(s)]).toEqual([{ kind: 'Cancelled' }, ['unknown']]);
      }),
  );
});
