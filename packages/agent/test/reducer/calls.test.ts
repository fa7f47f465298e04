import { FAILURE_KINDS } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { refOf } from '../histories/content.js';
import { outputOf, play, type Scene } from './scene.js';

/** A run whose model has called one tool. */
function called(s: Scene, more: object = {}): void {
  s.input();
  s.answer({ calls: [{ id: 'a', ...more }] });
}

const resultOf = (s: Scene) => s.transcript().find((line) => line.startsWith('result a'));

describe('an approval', () => {
  const asking = { approval: {} };

  it('an approved call is executed and the run continues', () =>
    play({}, (s) => {
      called(s, asking);
      expect(s.lifecycle()).toBe('WaitingInput: approval');
      s.later(200_000_000);
      s.decide({ approve: true });
      expect([s.lifecycle(), s.running()]).toEqual(['Running', ['a']]);
      s.toolAnswers('a');
      expect(resultOf(s)).toBe('result a: t7');
    }));

  it('a call that is approved with edited arguments is executed with them [TOOL-10]', () =>
    play({}, (s) => {
      called(s, asking);
      const [params] = [...s.world.open.values()].map((leaf) => leaf.params as object);
      s.decide({ approve: true, params: { ...params, args_ref: refOf(30), asked_ref: refOf(11) } });
      const [work] = s.working('tool.call@1');
      expect(work?.leaf.params).toMatchObject({ args_ref: refOf(30) });
      s.toolEnds('a', { status: 'ok', payload: outputOf(7, { edited_args_ref: refOf(30) }) });
      expect(s.facts('ToolCallSettled')[0]?.outcome).toMatchObject({ edited_args_ref: refOf(30) });
    }));

  it('a denied call did not happen, and the model reads so', () =>
    play({}, (s) => {
      called(s, asking);
      s.decide({ approve: false });
      expect(resultOf(s)).toBe('result a: (denied policy_denied/not_approved)');
      expect(s.lifecycle()).toBe('Running');
    }));

  it('a run waits for an approval only when its other calls have ended', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a', approval: {} }, { id: 'b' }] });
      expect(s.lifecycle()).toBe('Running');
      s.toolAnswers('b');
      expect(s.lifecycle()).toBe('WaitingInput: approval');
    }));

  it('a cancelled call that waited for approval: the model reads that it was cancelled before it began', () =>
    play({}, (s) => {
      called(s, asking);
      s.command({ type: 'Cancel', scope: 'run' });
      expect([s.lifecycle(), resultOf(s)]).toEqual(['Cancelled', 'result a: (cancelled)']);
    }));

  it('an approval that a policy requires is like any other', () =>
    play(
      {},
      (s) => {
        called(s);
        expect(s.lifecycle()).toBe('WaitingInput: approval');
        s.decide({ approve: true });
        s.toolAnswers('a');
        expect(resultOf(s)).toBe('result a: t7');
      },
      {
        policy: [
          { effect: 'tool.call@1#echo', decision: 'require_approval' },
          { effect: '*', decision: 'allow' },
          { send: '*', decision: 'allow' },
        ],
      },
    ));

  it('the reason of a denial and the comment of an approval stand with the result that the model reads', () =>
    play({}, (s) => {
      called(s, asking);
      s.decide({ approve: false }, { reason_ref: refOf(31) });
      expect(s.items().at(-1)).toMatchObject({ role: 'tool', non_execution: { kind: 'denied' }, note_ref: refOf(31) });
      s.answer({ calls: [{ id: 'b', ...asking }] });
      s.decide({ approve: true }, { reason_ref: refOf(32) });
      expect(s.state().calls[0]?.note_ref?.hex).toBe(refOf(32).hex);
      s.toolAnswers('b');
      expect(s.items().at(-1)).toMatchObject({ role: 'tool', call_id: 'b', is_error: false, note_ref: refOf(32) });
    }));
});

describe('the result of a call', () => {
  it('a call that a policy denies: the model reads so, and the run continues', () =>
    play(
      {},
      (s) => {
        called(s);
        expect(resultOf(s)).toBe('result a: (denied policy_denied)');
        expect(s.lifecycle()).toBe('Running');
      },
      {
        policy: [
          { effect: 'tool.call@1#echo', decision: 'deny' },
          { effect: '*', decision: 'allow' },
        ],
      },
    ));

  it.each([
    ['an error', { status: 'error', code: 'adapter_error/gone' }, 'result a: (failed adapter_error/gone)'],
    ['told to stop by nobody we know', { status: 'cancelled' }, 'result a: (interrupted)'],
    ['unknown', { status: 'outcome_unknown' }, 'result a: (outcome_unknown)'],
    ['too late', { status: 'timeout', code: 'adapter_timeout' }, 'result a: (outcome_unknown adapter_timeout)'],
  ] as const)('%s: the model reads the known outcome', (_what, said, words) =>
    play({}, (s) => {
      called(s);
      s.toolEnds('a', said);
      expect([resultOf(s), s.lifecycle()]).toEqual([words, 'Running']);
    }),
  );

  it.each(['at_most_once', 'idempotent', 'reconcile'] as const)(
    'the effect of a call is emitted with the guarantee %s',
    (guarantee) =>
      play({}, (s) => {
        called(s, { guarantee });
        expect([...s.world.open.values()].map((leaf) => leaf.guarantee)).toEqual([guarantee]);
      }),
  );

  it('a call without a stated guarantee happens at most once, and its outcome after a crash is unknown [TOOL-12]', () =>
    play({}, (s) => {
      called(s);
      s.world.crash();
      expect([resultOf(s), s.running()]).toEqual(['result a: (outcome_unknown)', []]);
    }));

  it('an idempotent call is repeated after a crash', () =>
    play({}, (s) => {
      called(s, { guarantee: 'idempotent' });
      s.world.crash();
      s.toolAnswers('a');
      expect(resultOf(s)).toBe('result a: t7');
    }));

  it('two calls with the same id each have their own result', () =>
    play({}, (s) => {
      s.input();
      s.answer({
        calls: [
          { id: 'a', tool: 'one' },
          { id: 'a', tool: 'two' },
        ],
      });
      const [, second] = s.working('tool.call@1');
      if (second !== undefined) s.world.answer(second, { status: 'ok', payload: outputOf(33) });
      s.toolAnswers('a');
      expect(s.transcript().slice(-2)).toEqual(['result a: t7', 'result a: t33']);
    }));

  it('a malformed call executes nothing, and the model reads the error [TOOL-5]', () =>
    play({}, (s) => {
      s.input();
      s.answer({
        calls: [
          { id: 'a', issue: 'args_invalid', issue_ref: refOf(32) },
          { id: 'b', issue: 'args_not_json' },
          { id: 'c', issue: 'tool_not_found' },
        ],
      });
      expect(s.running()).toEqual([]);
      expect(s.transcript().slice(-3)).toEqual([
        'result a: t32',
        'result b: (failed tool_args_invalid/args_not_json)',
        'result c: (failed tool_not_found)',
      ]);
    }));

  it('a late answer to a call that was settled without an output is noted once, behind the results of the batch [TOOL-15]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a', timeout_ms: 100 }, { id: 'b' }] });
      s.later(100);
      s.toolAnswers('a');
      expect(s.transcript().at(-1)).toBe('assistant: a b');
      s.toolAnswers('b');
      expect(s.transcript().slice(-3)).toEqual([
        'result a: (outcome_unknown adapter_timeout)',
        'result b: t7',
        'late a: ok',
      ]);
    }));

  it('a call that cannot run, with a text about the issue, is an error of its kind for the model', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a', issue: 'args_invalid', issue_ref: refOf(32) }] });
      const outcome = { output_ref: refOf(32), is_error: true, error_code: 'tool_args_invalid' };
      expect(s.facts('ToolCallSettled')).toMatchObject([{ call_id: 'a', outcome }]);
    }));

  it('a late answer states the earlier outcome of its own call, not of one before it', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'b' }, { id: 'a', timeout_ms: 100 }, { id: 'c' }] });
      s.toolAnswers('b');
      s.later(100);
      s.toolAnswers('a');
      expect(s.facts('ToolCallLate')).toMatchObject([{ call_id: 'a', reported: { kind: 'outcome_unknown' } }]);
    }));
});

describe('a call with an unknown outcome', () => {
  const lost = { status: 'outcome_unknown' } as const;

  it('tell_model: the model reads that the outcome is unknown [TOOL-13]', () =>
    play({}, (s) => {
      called(s, { on_unknown: 'tell_model' });
      s.toolEnds('a', lost);
      expect([resultOf(s), s.lifecycle()]).toEqual(['result a: (outcome_unknown)', 'Running']);
    }));

  it('retry: a call with an unknown outcome is repeated, twice at most [TOOL-13]', () =>
    play({}, (s) => {
      called(s, { on_unknown: 'retry' });
      for (let i = 0; i < 3; i++) s.toolEnds('a', lost);
      expect([s.running(), resultOf(s)]).toEqual([[], 'result a: (outcome_unknown)']);
    }));

  it('retry: the outcome of the next attempt is the result', () =>
    play({}, (s) => {
      called(s, { on_unknown: 'retry' });
      s.toolEnds('a', lost);
      s.toolAnswers('a');
      expect(resultOf(s)).toBe('result a: t7');
    }));

  it('retry: a failed second attempt does not make the first one undone', () =>
    play({}, (s) => {
      called(s, { on_unknown: 'retry' });
      s.toolEnds('a', lost);
      s.toolEnds('a', { status: 'error', code: 'adapter_error/gone' });
      expect(resultOf(s)).toBe('result a: (outcome_unknown adapter_error/gone)');
    }));

  it('ask_human: a person’s answer is the result [TOOL-13]', () =>
    play({}, (s) => {
      called(s, { on_unknown: 'ask_human' });
      s.toolEnds('a', lost);
      expect(s.lifecycle()).toBe('WaitingInput: ask');
      s.settle();
      expect(resultOf(s)).toBe('result a: t9');
    }));

  it('ask_human: without an answer the outcome stays unknown', () =>
    play({}, (s) => {
      called(s, { on_unknown: 'ask_human' });
      s.toolEnds('a', lost);
      s.command({ type: 'Cancel', scope: 'run' });
      expect([s.lifecycle(), resultOf(s)]).toEqual(['Cancelled', 'result a: (outcome_unknown)']);
    }));

  it('fail: the run fails when all other calls have ended [TOOL-13]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a', on_unknown: 'fail' }, { id: 'b' }] });
      s.toolEnds('a', lost);
      expect(s.lifecycle()).toBe('Cancelling');
      s.toolEnds('b', { status: 'cancelled' });
      expect(s.stop()).toEqual({
        kind: 'Failed',
        code: 'adapter_error/outcome_unknown',
        retryable: false,
        stage: 'tool_call',
      });
    }));

  it.each(['retry', 'ask_human'] as const)(
    '%s: a call is not repeated while the run is stopping [SES-18]',
    (on_unknown) =>
      play({}, (s) => {
        called(s, { on_unknown });
        s.command({ type: 'Cancel', scope: 'run' });
        s.toolEnds('a', lost);
        expect([s.lifecycle(), resultOf(s), s.world.open.size]).toEqual([
          'Cancelled',
          'result a: (outcome_unknown)',
          0,
        ]);
      }),
  );

  it.each(['retry', 'ask_human'] as const)(
    '%s: a call is not repeated while the run is paused [SES-15]',
    (on_unknown) =>
      play({}, (s) => {
        called(s, { on_unknown });
        s.command({ type: 'Pause' });
        s.toolEnds('a', lost);
        expect([s.lifecycle(), s.world.open.size]).toEqual(['Paused', 0]);
        s.command({ type: 'Resume' });
        expect(s.world.open.size).toBe(1);
      }),
  );
});

describe('a question to a person', () => {
  const ask = (more: object = {}) => ({ session: { op: 'ask' as const, question_ref: refOf(12), ...more } });

  it('the answer to a question is the result of the call', () =>
    play({}, (s) => {
      called(s, ask());
      expect(s.lifecycle()).toBe('WaitingInput: ask');
      s.settle();
      expect(resultOf(s)).toBe('result a: t9');
    }));

  it('an unanswered question has its default as the result [TOOL-16]', () =>
    play({}, (s) => {
      called(s, ask({ within_ms: 1_000, default_ref: refOf(13) }));
      s.later(1_000);
      expect(resultOf(s)).toBe('result a: t13');
    }));

  it('an unanswered question without a default has a result that tells the model so [TOOL-16]', () =>
    play({}, (s) => {
      called(s, ask({ within_ms: 1_000 }));
      s.later(1_000);
      expect(resultOf(s)).toBe('result a: (failed adapter_timeout/unanswered)');
    }));
});

describe('a model call that fails', () => {
  it.each(FAILURE_KINDS)('a model call that fails by %s fails the run with this code [SES-5]', (code) =>
    play({}, (s) => {
      s.input();
      if (code === 'adapter_timeout') s.modelEnds({ status: 'error', code });
      s.modelEnds({ status: 'error', code, retryable: false });
      expect(s.stop()).toEqual({ kind: 'Failed', code, retryable: false, stage: 'llm_step' });
    }),
  );

  it('given an answer whose receipt does not say whom the call asked, the step fails, and nothing of it is taken [MOD-62]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ asked: null });
      const code = 'validation_error/asked';
      expect(s.stop()).toEqual({ kind: 'Failed', code, retryable: false, stage: 'llm_step' });
      expect(s.state().items).toBe(1);
    }));

  it('a model call that timed out is repeated once', () =>
    play({}, (s) => {
      s.input();
      s.later(10 * 60_000);
      expect(s.facts('LlmStepGaveUp')).toMatchObject([{ code: 'adapter_timeout', again: true }]);
      const again = s.working('llm.generate@2').find(({ settled }) => !settled);
      if (again !== undefined) s.world.answer(again, { status: 'timeout', code: 'adapter_timeout' });
      expect(s.stop()).toMatchObject({ kind: 'Failed', code: 'adapter_timeout' });
    }));

  it.each([
    [
      'content_filter',
      { kind: 'Failed', code: 'provider_error_terminal/refusal', retryable: false, stage: 'llm_step' },
    ],
    ['error', { kind: 'Failed', code: 'provider_error_terminal', retryable: false, stage: 'llm_step' }],
    ['length', { kind: 'Completed', warning: 'truncated' }],
    ['other', { kind: 'Completed' }],
    ['stop', { kind: 'Completed' }],
  ] as const)('a model call that ends by %s ends the run accordingly', (finish, stop) =>
    play({}, (s) => {
      s.input();
      s.answer({ finish });
      expect(s.stop()).toEqual(stop);
    }),
  );

  it('a failed answer with calls: each call that is not taken up has its result', () =>
    play({}, (s) => {
      s.input();
      s.answer({ finish: 'content_filter', calls: [{ id: 'a' }, { id: 'b' }] });
      expect(s.transcript().slice(-2)).toEqual(['result a: (cancelled)', 'result b: (cancelled)']);
    }));

  it('an interrupted model continues when its run was not interrupted', () =>
    play({}, (s) => {
      s.input();
      s.answer({ finish: 'interrupted' });
      expect(s.working('llm.generate@2')).toHaveLength(1);
    }));
});

describe('an answer that has to fit', () => {
  it('an answer that fits the return schema gives the run its value', () =>
    play({ repair_ref: refOf(16) }, (s) => {
      s.input();
      s.answer({ returns: 'fits' });
      expect(s.facts('LifecycleChanged').at(-1)).toMatchObject({ value_ref: refOf(3), stop: { kind: 'Completed' } });
    }));

  it('an answer that does not fit is requested again once, then the run fails', () =>
    play({ repair_ref: refOf(16) }, (s) => {
      s.input();
      s.answer({ returns: 'does not' });
      expect(s.transcript().at(-1)).toBe('repair: t16 t4');
      s.answer({ returns: 'does not' });
      expect(s.stop()).toEqual({
        kind: 'Failed',
        code: 'validation_error/returns',
        retryable: false,
        stage: 'returns',
      });
    }));

  it('an answer that does not fit fails the run when there is no text for the model', () =>
    play({}, (s) => {
      s.input();
      s.answer({ returns: 'does not' });
      expect(s.stop()).toMatchObject({ code: 'validation_error/returns' });
    }));
});

describe('calls beyond those that one answer may make', () => {
  const dropped = { count: 36, tools: ['echo'] };

  it('calls beyond the bound of one answer are recorded in the transcript and in the event of the step [MOD-29]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a' }], dropped });
      expect(s.facts('LlmStepAnswered')[0]).toMatchObject({ calls: ['a'], dropped_calls: dropped });
      s.toolAnswers('a');
      expect(s.transcript().slice(-2)).toEqual(['assistant: a (and 36 more)', 'result a: t7']);
    }));

  it('calls beyond the bound are recorded also when the run is being stopped', () =>
    play({}, (s) => {
      s.input();
      s.command({ type: 'Cancel', scope: 'run' });
      s.answer({ calls: [{ id: 'a' }], dropped });
      expect(s.transcript().slice(-2)).toEqual(['assistant: a (and 36 more)', 'result a: (cancelled)']);
    }));
});
