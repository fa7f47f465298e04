import type { SessionOp } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { llmGenerate } from '../../src/plans/effects.js';
import { refOf } from '../histories/content.js';
import { type Change, play, type Scene } from './scene.js';

const parts = [{ kind: 'text' as const, text_ref: refOf(20) }];
const spawn = (id: string, more: Partial<SessionOp & { op: 'spawn' }> = {}) => ({
  id,
  session: { op: 'spawn' as const, agent: 'helper', parts, ...more },
});
const send = (id: string, child = 'c1') => ({ id, session: { op: 'send_input' as const, child, parts } });

const family = (change: Change, act: (s: Scene) => void, helper: Change = {}) =>
  play(change, act, { agents: { helper } });

/** Answers every model call with this usage, until none is asked; what was used in all. */
function exhaust(s: Scene, tokens: number): number {
  let used = 0;
  for (let asked = s.working(llmGenerate.name); asked.length > 0; asked = s.working(llmGenerate.name)) {
    for (const { leaf } of asked) {
      s.answer({ usage: { calls: 1, tokens_in: tokens, tokens_out: 0 } }, leaf.plan[1]);
      used += tokens;
    }
    if (used > 100_000) throw new Error('there is no end to it');
  }
  return used;
}

const asked = (s: Scene, key = 'root') =>
  s.working(llmGenerate.name, key).map(({ leaf }) => (leaf.params as { max_tokens?: number }).max_tokens);

describe('the budget of a run', () => {
  const small = { limits: { max_tokens: 1_000 }, options: { max_tokens: 60 } };
  const usage = { calls: 1, tokens_in: 10, tokens_out: 40 };

  it('the reserve of a child pays for all its inputs: ten more inputs reserve nothing more [CHILD-2]', () =>
    family(
      small,
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s'), ...Array.from({ length: 10 }, (_, n) => send(`m${n}`))], usage });
        expect(50 + exhaust(s, 95)).toBeLessThanOrEqual(1_000);
      },
      { options: { max_tokens: 60 } },
    ));

  it('a run cannot use the allowance of a child: its next step waits until the child returns the rest [CHILD-2, CHILD-11]', () =>
    family(
      small,
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s', { max_tokens: 900 })], usage });
        expect([asked(s), s.lifecycle()]).toEqual([[], 'WaitingInput: children']);
        expect(s.state().run?.allocated.tokens).toBe(900);
        s.answer({ usage: { calls: 1, tokens_in: 300, tokens_out: 60 } }, 'root.c1');
        expect([asked(s), s.lifecycle()]).toEqual([[60], 'Running']);
      },
      { options: { max_tokens: 60 } },
    ));

  it('the budget of a run pays for sessions four levels below it [CHILD-2, CHILD-10]', () =>
    family(
      { limits: { max_tokens: 1_000, max_depth: 4 }, options: { max_tokens: 60 } },
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s', { max_tokens: 900 })], usage });
        s.answer({ calls: [spawn('s', { max_tokens: 800 })], usage }, 'root.c1');
        s.answer({ calls: [spawn('s', { max_tokens: 700 }), send('m')], usage }, 'root.c1.c1');
        expect(150 + exhaust(s, 70)).toBeLessThanOrEqual(1_000);
      },
      { options: { max_tokens: 60 }, spawns: ['helper'], limits: { max_depth: 4 } },
    ));

  it('the reserve of a grandchild outlives the child above it, and is returned once [CHILD-3, CHILD-10]', () =>
    family(
      small,
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s', { max_tokens: 600 })], usage });
        s.answer({ calls: [spawn('s', { max_tokens: 300 })], usage }, 'root.c1');
        s.answer({ usage }, 'root.c1');
        expect([s.lifecycle('root.c1'), s.state().run?.allocated.tokens]).toEqual(['Completed', 300]);
        s.answer({ usage }, 'root.c1.c1');
        expect(s.state().run).toMatchObject({
          allocated: { tokens: 0 },
          children_tally: { tokens_in: 30, tokens_out: 120 },
        });
      },
      { options: { max_tokens: 60 }, spawns: ['helper'] },
    ));

  it('the reserve of a child stays while the child has inputs that wait for a person [CHILD-3]', () =>
    family(
      small,
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s', { max_tokens: 600 }), send('m')], usage });
        s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false }, 'root.c1');
        expect([s.lifecycle('root.c1'), s.state().run?.allocated.tokens]).toEqual(['Failed', 600]);
        s.command({ type: 'Cancel', scope: 'all' }, { key: 'root.c1' });
        expect(s.state().run?.allocated.tokens).toBe(0);
      },
      { options: { max_tokens: 60 } },
    ));

  it('the budget of a run does not pay for an input that the host sends to a child', () =>
    family(small, (s) => {
      s.input();
      s.answer({ calls: [spawn('s', { max_tokens: 600 })], usage });
      s.answer({ usage }, 'root.c1');
      s.input('own', { key: 'root.c1' });
      s.answer({ usage }, 'root.c1');
      expect(s.state().run).toMatchObject({
        allocated: { tokens: 0 },
        children_tally: { tokens_in: 10, tokens_out: 40 },
      });
    }));

  it('each run of a parent sets aside a new amount for its own inputs to a child', () =>
    family(
      { limits: { max_tokens: 500 }, options: { max_tokens: 60 } },
      (s) => {
        s.input();
        s.answer({ calls: [spawn('s')], usage });
        s.answer({ usage });
        s.input();
        s.answer({ calls: [send('m')], usage });
        s.answer({ usage }, 'root.c1');
        expect(s.state().run).toMatchObject({ allocated: { tokens: 150 }, children_tally: { tokens_in: 0 } });
        s.answer({ usage }, 'root.c1');
        expect(s.state().run).toMatchObject({ allocated: { tokens: 0 }, children_tally: { tokens_in: 10 } });
      },
      { options: { max_tokens: 60 }, limits: { max_tokens: 150 } },
    ));
});

describe('a model call', () => {
  const price = { in: 3_000_000, out: 15_000_000 };

  it('a model call that exceeds the remaining budget does not begin [LIM-11]', () =>
    play({ limits: { max_tokens: 200 }, options: { max_tokens: 150 } }, (s) => {
      s.input();
      expect(asked(s)).toEqual([150]);
      s.answer({ calls: [{ id: 'a', issue: 'tool_not_found' }], usage: { calls: 1, tokens_in: 40, tokens_out: 60 } });
      expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_tokens' });
      expect(s.facts('LimitReached')).toMatchObject([{ used: 100, of: 200, set_aside: 0, needs: 250 }]);
    }));

  it('a model call states a largest answer where the definition states none [LIM-11]', () =>
    play({ limits: { max_tokens: 20_000 } }, (s) => {
      s.input();
      expect(asked(s)).toEqual([8_192]);
      s.answer({
        calls: [{ id: 'a', issue: 'tool_not_found' }],
        usage: { calls: 1, tokens_in: 9_000, tokens_out: 100 },
      });
      expect(asked(s)).toEqual([1_800]);
    }));

  it('a model call derives its largest answer from the remaining money [LIM-11]', () =>
    play({ limits: { max_micro_money: 3_000 }, price }, (s) => {
      s.input();
      expect(asked(s)).toEqual([199]);
      expect(s.state().run?.reserve).toEqual({ tokens: 0, micro_money: 2_988 });
    }));

  it('a model call without a limit states no largest answer', () =>
    play({ price }, (s) => {
      s.input();
      expect([asked(s), s.state().run?.reserve]).toEqual([[undefined], null]);
    }));

  it('a model call that used more than its reserve counts as its usage, and a fact records the difference [LIM-12]', () =>
    play({ limits: { max_tokens: 200 }, options: { max_tokens: 20 } }, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a', issue: 'tool_not_found' }], usage: { calls: 1, tokens_in: 90, tokens_out: 20 } });
      expect(s.state().last?.tally).toMatchObject({ tokens_in: 90, tokens_out: 20 });
      expect(s.facts('UsageDiffers')).toMatchObject([
        { how: 'above_reserve', reserved: { tokens: 21 }, used: { tokens: 110 } },
      ]);
    }));

  it('a model call without reported usage counts as its reserve [LIM-12]', () =>
    play({ limits: { max_tokens: 400 }, options: { max_tokens: 100 } }, (s) => {
      s.input();
      s.modelEnds({ status: 'timeout', code: 'adapter_timeout' });
      expect(s.state().run).toMatchObject({ unaccounted: { tokens: 101 }, reserve: { tokens: 101 } });
      expect(s.facts('UsageDiffers')).toMatchObject([{ how: 'unknown', reserved: { tokens: 101 } }]);
    }));

  it('a model call that was answered without a report of its usage counts as its reserve, so that such a provider is limited [LIM-12]', () =>
    play({ limits: { max_tokens: 250 }, options: { max_tokens: 100 } }, (s) => {
      const unknown = { calls: [{ id: 'a', issue: 'tool_not_found' as const }], usage: { calls: 1 } };
      s.input();
      s.answer(unknown);
      expect(s.state().run).toMatchObject({ unaccounted: { tokens: 101 }, abandoned: [] });
      s.answer(unknown);
      expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_tokens' });
      expect(s.facts('UsageDiffers').map(({ how }) => how)).toEqual(['unknown', 'unknown']);
    }));

  it('a model call that reported a part of its usage and the rest late counts each part once, and never below zero [LIM-12]', () => {
    const limits = { max_tokens: 400, max_micro_money: 10_000 };
    const price = { in: 1_000_000, out: 1_000_000 };
    return play({ price, limits, options: { max_tokens: 100 }, after_answer: { wait_ms: null } }, (s) => {
      s.input();
      const [work] = s.working(llmGenerate.name);
      if (work === undefined) throw new Error('no model was asked');
      const usage = { calls: 1, tokens_in: 30, tokens_out: 4 };
      s.modelEnds({ status: 'timeout', code: 'adapter_timeout', usage });
      const { unaccounted } = s.state().run ?? {};
      expect(unaccounted).toMatchObject({ tokens: 0, micro_money: 101 });
      const { name, plan, params } = work.leaf;
      const told = { effect: work.effect, name, plan, params, settled: 'timeout', status: 'ok' };
      s.send('sys/EffectLate@1', { ...told, usage: { ...usage, micro_money: 34 } });
      const { unaccounted: after, tally } = s.state().run ?? {};
      expect([after, tally]).toMatchObject([
        { tokens: 0, micro_money: 0 },
        { tokens_in: 30, tokens_out: 4, micro_money: 34 },
      ]);
    });
  });

  it('a model call that a provider refused counts nothing', () =>
    play({ limits: { max_tokens: 400 } }, (s) => {
      s.input();
      s.modelEnds({ status: 'error', code: 'provider_error_terminal/auth', retryable: false });
      expect(s.state().last?.tally).toMatchObject({ tokens_in: 0 });
      expect(s.facts('UsageDiffers')).toEqual([]);
    }));

  it('an abandoned model call may report its usage late: the run counts it, and a fact records it [LIM-12]', () =>
    play({ limits: { max_tokens: 400 }, options: { max_tokens: 100 }, after_answer: { wait_ms: null } }, (s) => {
      s.input();
      const [work] = s.working(llmGenerate.name);
      s.command({ type: 'Cancel', scope: 'turn' });
      s.later(7_000);
      expect([s.lifecycle(), s.state().run?.unaccounted.tokens]).toEqual(['WaitingInput: input', 101]);
      if (work === undefined) throw new Error('no model was asked');
      s.world.answer(work, { status: 'cancelled', usage: { calls: 1, tokens_in: 30, tokens_out: 4 } });
      expect(s.state().run).toMatchObject({ unaccounted: { tokens: 0 }, tally: { tokens_in: 30, tokens_out: 4 } });
      expect(s.facts('UsageDiffers').map(({ how }) => how)).toEqual(['unknown', 'late']);
    }));

  it('a model call that writes a summary is checked against the budget like any other [LIM-11]', () =>
    play(
      {
        limits: { max_tokens: 500 },
        options: { max_tokens: 100 },
        context_window: 100,
        compaction: { at: 85, keep: 1, model: null, ask_ref: refOf(18) },
      },
      (s) => {
        s.input();
        s.answer({ usage: { calls: 1, tokens_in: 40, tokens_out: 5 } });
        s.input();
        s.answer({ calls: [{ id: 'a', issue: 'tool_not_found' }], usage: { calls: 1, tokens_in: 390, tokens_out: 5 } });
        expect([s.facts('CompactionStarted'), s.stop()]).toEqual([[], { kind: 'LimitsExceeded', limit: 'max_tokens' }]);
      },
    ));
});

describe('a limit in money', () => {
  const none = { price: null };
  const money = { limits: { max_micro_money: 5 } };

  it('a limit in money is refused for a model without a price, also when a session switches to such a model [LIM-13]', () =>
    play(none, (s) => {
      const reconfigure = (patch: object) => s.command({ type: 'Reconfigure', patch });
      expect(reconfigure(money)).toMatchObject({ code: 'model_without_price' });
      expect(reconfigure({ model: 'other', price: { in: 1, out: 1 }, ...money })?.code).toBeUndefined();
      expect(reconfigure({ model: 'main', price: null })).toMatchObject({ code: 'model_without_price' });
      expect(reconfigure({ limits: { max_micro_money: null } })?.code).toBeUndefined();
      expect(reconfigure({ model: 'main', price: null })?.code).toBeUndefined();
    }));
});
