import type { Value } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { SESSION_REDUCER } from '../../src/contracts/index.js';
import { refOf } from '../histories/content.js';
import { OWNER, ownerApp } from './owner-cell.js';
import { type Change, KEY, play, type Scene } from './scene.js';

const asks = (id: string, args: Value, more: object = {}) => ({
  id,
  tool: 'report',
  session: { op: 'owner' as const, name: 'report', args },
  ...more,
});

/** A session that a cell of the app made. */
const owned = (act: (s: Scene) => void, change: Change = {}) => play(change, act, { app: ownerApp, maker: OWNER });

const last = (s: Scene) => s.transcript().at(-1);
const frames = (s: Scene) => s.world.frames;
const ownerState = (s: Scene) =>
  s.world.cell(...OWNER)?.state as unknown as {
    calls: { call_id: string; name: string; args: Value }[];
    news: string[];
  };
const ownerAnswers = (s: Scene, call_id: string, value: Value = 'done', more: object = {}) =>
  s.world.request(...OWNER, 'test/Answer@1', { call_id, value, refs: [], is_error: false, ...more });
const parks = (s: Scene, call_id: string) => s.world.request(...OWNER, 'test/Park@1', { call_id });

describe('a call that the owner answers', () => {
  it('an owner call reaches the cell that made the session, and is answered, in the frame that took it up [OWN-1]', () =>
    owned((s) => {
      s.input();
      const before = frames(s);
      s.answer({ calls: [asks('a', { do: 'answer' })] });
      expect(frames(s)).toBe(before + 1);
      expect(ownerState(s).calls).toMatchObject([{ call_id: 'a', name: 'report', args: { do: 'answer' } }]);
      expect(last(s)).toBe('result a: {"did":"report"}');
      expect(s.lifecycle()).toBe('Running');
      expect(s.moves()).toEqual(['Idle → Running']);
    }));

  it('an owner call is resolved once: a second answer changes nothing and is recorded [OWN-2]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', { do: 'twice' })] });
      expect(last(s)).toBe('result a: 1');
      expect(s.facts('StaleIgnored')).toMatchObject([{ event: 'aos.agent/OwnerAnswer@1' }]);
    }));

  it('an owner call may be answered later, with links that the model is shown, and as an error', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', {}), asks('b', {})] });
      expect(s.lifecycle()).toBe('Running');
      ownerAnswers(s, 'b', { why: 'no' }, { is_error: true });
      ownerAnswers(s, 'a', 3, { refs: [{ label: 'report', ref: refOf(7) }] });
      expect(s.transcript().slice(-2)).toEqual(['result a: 3 report=t7', 'result b: error {"why":"no"}']);
    }));

  it('an owner call under an id of more bytes than a key is answered and may wait [SCH-8]', () =>
    owned((s) => {
      s.input();
      const id = '水'.repeat(128);
      s.answer({ calls: [asks(id, {})] });
      parks(s, id);
      ownerAnswers(s, id, 3);
      expect(last(s)).toBe(`result ${id}: 3`);
    }));

  it('an owner call without an owner is an error that the model reads, and the run goes on [OWN-3]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [asks('a', { do: 'answer' })] });
      expect(last(s)).toBe('result a: (failed tool_args_invalid/no_owner)');
      expect(s.working('llm.generate@2')).toHaveLength(1);
    }));

  it('an owner call of a child, whose owner is a session, is an error that the model reads [OWN-3]', () => {
    const parts = [{ kind: 'text' as const, text_ref: refOf(20) }];
    return play(
      {},
      (s) => {
        s.input();
        s.answer({ calls: [{ id: 's', session: { op: 'spawn', agent: 'helper', parts } }] });
        s.answer({ calls: [asks('a', {})] }, 'root.c1');
        expect(s.transcript('root.c1').at(-1)).toBe('result a: (failed tool_args_invalid/no_owner)');
      },
      { agents: { helper: {} } },
    );
  });

  it('an owner call that the owner rejects is an error that the model reads, and the other calls of the answer go on [OWN-3]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', { do: 'reject' }), asks('b', { do: 'answer' })] });
      expect(s.transcript().slice(-2)).toEqual([
        'result a: (failed tool_args_invalid/no_owner)',
        'result b: {"did":"report"}',
      ]);
    }));

  it('an answer above 4 KiB is not stored: the model reads that the outcome is unknown [OWN-6]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', { do: 'huge' })] });
      expect(last(s)).toBe('result a: (outcome_unknown validation_error/answer_too_large)');
    }));

  it('an answer from another sender than the owner is refused, and changes nothing [OWN-1]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', {})] });
      const value = {
        session: KEY,
        call_id: 'a',
        step_epoch: s.state().step_epoch,
        value: 1,
        refs: [],
        is_error: false,
      };
      expect(s.send('aos.agent/OwnerAnswer@1', value)).toBe('request_rejected');
      expect(s.state().calls[0]?.phase).toBe('running');
    }));
});

describe('a cell between an owner and its session', () => {
  const below = (act: (s: Scene) => void) => play({}, act, { app: ownerApp, maker: OWNER, making: 'test/MakeBelow@1' });

  it('a cell in between passes a call and its answer on in the frame in which they reach it [OWN-7]', () =>
    below((s) => {
      s.input();
      const before = frames(s);
      s.answer({ calls: [asks('a', { do: 'answer' }), asks('b', { do: 'park' })] });
      expect(frames(s)).toBe(before + 1);
      expect(ownerState(s).calls.map(({ call_id }) => call_id)).toEqual(['a', 'b']);
      expect(s.state().calls.map(({ phase }) => phase)).toEqual(['settled', 'owner']);
      expect(s.lifecycle()).toBe('WaitingInput: owner');
    }));

  it('a session does not take an answer for another session, even from its maker [OWN-7]', () =>
    below((s) => {
      s.input();
      s.answer({ calls: [asks('a', {})] });
      const { step_epoch } = s.state();
      const value = { session: 'other', call_id: 'a', step_epoch, value: 1, refs: [], is_error: false };
      expect(s.send('aos.agent/OwnerAnswer@1', value)).toBe('request_rejected');
      expect(s.state().calls[0]?.phase).toBe('running');
    }));
});

describe('an owner that waits for another party', () => {
  it('an owner that waits lets the run wait, and is told so [OWN-4]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', { do: 'park' })] });
      expect(s.lifecycle()).toBe('WaitingInput: owner');
      expect(ownerState(s).news).toEqual(['running', 'waiting: owner']);
      ownerAnswers(s, 'a', 'yes');
      expect([last(s), s.lifecycle()]).toEqual(['result a: "yes"', 'Running']);
    }));

  it('an owner that waits lets the run work on while another call of the answer runs [OWN-4]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', {}), { id: 'b' }] });
      parks(s, 'a');
      expect(s.lifecycle()).toBe('Running');
      s.toolAnswers('b');
      expect(s.lifecycle()).toBe('WaitingInput: owner');
    }));

  it('an owner that waits stops the limit on the time of the run [OWN-4]', () =>
    owned(
      (s) => {
        s.input();
        s.answer({ calls: [asks('a', { do: 'park' })] });
        s.later(60_000);
        expect(s.lifecycle()).toBe('WaitingInput: owner');
        ownerAnswers(s, 'a');
        expect(s.facts('LimitReached')).toEqual([]);
        s.later(2_000);
        expect(s.facts('LimitReached')).toMatchObject([{ limit: 'max_wall_ms' }]);
      },
      { limits: { max_wall_ms: 1_000 } },
    ));

  it('an owner that works does not stop the limit on the time of the run', () =>
    owned(
      (s) => {
        s.input();
        s.answer({ calls: [asks('a', {})] });
        s.later(2_000);
        expect(s.stop()).toMatchObject({ kind: 'LimitsExceeded', limit: 'max_wall_ms' });
      },
      { limits: { max_wall_ms: 1_000 } },
    ));

  it('a cancel ends the waiting call as cancelled, one that the owner may have acted on as interrupted, and a later answer changes nothing [OWN-2]', () =>
    owned((s) => {
      s.input();
      s.answer({ calls: [asks('a', { do: 'park' }), asks('b', {})] });
      s.command({ type: 'Cancel', scope: 'run' });
      expect(s.transcript().slice(-2)).toEqual(['result a: (cancelled)', 'result b: (interrupted)']);
      const before = s.bytes();
      ownerAnswers(s, 'a', 'late');
      expect(s.bytes()).toEqual(before);
      expect(s.facts('StaleIgnored')).toHaveLength(1);
    }));
});

describe("a program's call", () => {
  const calls = (s: Scene, id: string, args: Value = {}, key = KEY) => {
    const [work] = s.working('tool.call@1', key);
    return s.world.request(
      SESSION_REDUCER,
      key,
      'aos.agent/OwnerCalled@1',
      { call_id: id, name: 'report', args },
      { as: `adapter:${work?.effect ?? 'none'}` },
    );
  };
  const working = (s: Scene) => {
    s.input();
    s.answer({ calls: [{ id: 't' }] });
  };

  it('a call of a program reaches the owner as a call of its session, and the answer is a fact [OWN-5]', () =>
    owned((s) => {
      working(s);
      expect(calls(s, '1.1', { do: 'answer' })).toBeUndefined();
      expect(ownerState(s).calls).toMatchObject([{ call_id: 'x.1.1', name: 'report', session: KEY }]);
      expect(s.facts('OwnerAnswered')).toMatchObject([{ call_id: '1.1', value: { did: 'report' }, is_error: false }]);
      s.toolAnswers('t');
      expect(last(s)).toBe('result t: t7');
    }));

  it('a call of a program counts only while its turn is under way [OWN-5]', () =>
    owned((s) => {
      working(s);
      const [work] = s.working('tool.call@1');
      s.toolAnswers('t');
      const late = s.world.request(
        SESSION_REDUCER,
        KEY,
        'aos.agent/OwnerCalled@1',
        { call_id: '1', name: 'report', args: {} },
        { as: `adapter:${work?.effect ?? ''}` },
      );
      expect(late).not.toBeUndefined();
      expect(ownerState(s).calls).toEqual([]);
    }));

  it('a person, an operator and the adapter of a model cannot call as a program [OWN-5]', () =>
    owned((s) => {
      working(s);
      const value = { call_id: '1', name: 'report', args: {} };
      expect(s.send('aos.agent/OwnerCalled@1', value)).toBe('request_rejected');
      s.toolAnswers('t');
      const [model] = s.working('llm.generate@2');
      const as = { as: `adapter:${model?.effect ?? ''}` as const };
      expect(s.world.request(SESSION_REDUCER, KEY, 'aos.agent/OwnerCalled@1', value, as)).toBe('request_rejected');
      expect(ownerState(s).calls).toEqual([]);
    }));

  it('a call of a program that is open is not taken again, and each is answered once [OWN-5]', () =>
    owned((s) => {
      working(s);
      expect(calls(s, '1')).toBeUndefined();
      expect(calls(s, '1')).toBe('request_rejected');
      ownerAnswers(s, 'x.1', 1);
      ownerAnswers(s, 'x.1', 2);
      expect(s.facts('OwnerAnswered')).toMatchObject([{ value: 1 }]);
    }));

  it('a call of a program that the owner rejects is answered by an error [OWN-3]', () =>
    owned((s) => {
      working(s);
      calls(s, '1', { do: 'reject' });
      expect(s.facts('OwnerAnswered')).toMatchObject([
        { is_error: true, value: { code: 'tool_args_invalid/no_owner' } },
      ]);
    }));

  it('a call of a program is forgotten at the end of its turn: an answer then changes nothing [OWN-5]', () =>
    owned((s) => {
      working(s);
      for (let n = 0; n < 64; n++) expect(calls(s, String(n))).toBeUndefined();
      expect(calls(s, '64')).toBe('request_rejected');
      s.toolAnswers('t');
      ownerAnswers(s, 'x.1', 1);
      expect(s.facts('OwnerAnswered')).toEqual([]);
    }));
});
