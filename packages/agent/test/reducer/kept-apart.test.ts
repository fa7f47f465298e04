/** The budget of a run whose children a policy keeps apart from it. */
import type { PolicyRule } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { AGENT_POLICY } from '../../src/index.js';
import { llmGenerate } from '../../src/plans/effects.js';
import { refOf } from '../histories/content.js';
import { play, type Scene } from './scene.js';

const parts = [{ kind: 'text' as const, text_ref: refOf(20) }];
const small = { limits: { max_tokens: 1_000 }, options: { max_tokens: 60 } };
const helper = { options: { max_tokens: 60 } };
const usage = { calls: 1, tokens_in: 10, tokens_out: 40 };
const spawn = { id: 's', session: { op: 'spawn' as const, agent: 'helper', parts, max_tokens: 900 } };
const send = { id: 'm', session: { op: 'send_input' as const, child: 'c1', parts } };
const close = { id: 'x', session: { op: 'close' as const, child: 'c1' } };

const asked = (s: Scene, key = 'root') => s.working(llmGenerate.name, key).length;
const denied = (rule: { readonly send: string; readonly who?: string }) =>
  [{ ...rule, decision: 'deny' }, ...AGENT_POLICY] as unknown as readonly PolicyRule[];

const family = (policy: readonly PolicyRule[], act: (s: Scene) => void) =>
  play(small, act, { agents: { helper }, policy });

describe('a child that policy keeps from its parent', () => {
  it('a child that could not be made returns its allowance, so that the run continues [CHILD-3, CHILD-9]', () =>
    family(denied({ send: 'aos.agent/SessionReducer@1/root.c*' }), (s) => {
      s.input();
      s.answer({ calls: [spawn], usage });
      expect([asked(s), asked(s, 'root.c1')]).toEqual([1, 0]);
      expect(s.state().run?.allocated.tokens).toBe(0);
    }));

  it('a child keeps its allowance when only a later event to it is refused [CHILD-10]', () =>
    family(denied({ send: 'aos.agent/SessionReducer@1/root.c1#aos.agent/HostCommand@1' }), (s) => {
      s.input();
      s.answer({ calls: [spawn, close], usage });
      expect([asked(s), asked(s, 'root.c1')]).toEqual([0, 1]); // it works on
      expect(s.facts('LimitReached')).toMatchObject([{ used: 50, set_aside: 900, of: 1_000 }]);
    }));

  it('a child keeps its allowance when its reports are refused: its usage is unknown [CHILD-10]', () =>
    family(denied({ send: 'aos.agent/SessionReducer@1/root#aos.agent/ChildNotice@1' }), (s) => {
      s.input();
      s.answer({ calls: [spawn], usage });
      s.answer({ usage: { calls: 1, tokens_in: 300, tokens_out: 60 } }, 'root.c1');
      expect([asked(s), s.lifecycle()]).toEqual([0, 'WaitingInput: children']);
      const { tally, allocated } = s.state().run ?? expect.fail('no run');
      expect([tally.tokens_in + tally.tokens_out, allocated.tokens]).toEqual([50, 900]);
    }));

  it('a child returns its allowance when policy refused all of its inputs, so that the run continues [CHILD-3, CHILD-10]', () =>
    family(denied({ send: 'aos.agent/SessionReducer@1/root.c1#aos.agent/UserInput@1' }), (s) => {
      s.input();
      s.answer({ calls: [{ ...spawn, session: { ...spawn.session, max_tokens: 500 } }, send], usage });
      expect([asked(s), asked(s, 'root.c1')]).toEqual([1, 0]);
      expect(s.state().run?.allocated.tokens).toBe(0);
    }));
});
