import { describe, expect, it } from 'vitest';
import { refOf } from '../histories/content.js';
import { play, type Scene } from './scene.js';

const call = (id: string, more: object = {}) => ({ id, ...more });
const told = (s: Scene) => s.working('tool.call@1').map((work) => work.told);

describe('a run', () => {
  it('given an answer without calls, the run completes [SES-5]', () =>
    play({}, (s) => {
      s.input();
      expect(s.lifecycle()).toBe('Running');
      s.answer();
      expect(s.lifecycle()).toBe('Completed');
      expect(s.transcript()).toEqual(['input: t10', 'assistant:']);
      expect(s.stop()).toEqual({ kind: 'Completed' });
    }));

  it('given calls, their results stand together in the order of the calls, whatever order they end in [SES-23]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [call('a'), call('b'), call('c')] });
      for (const id of ['c', 'a', 'b']) s.toolAnswers(id);
      s.answer();
      expect(s.transcript()).toEqual([
        'input: t10',
        'assistant: a b c',
        'result a: t7',
        'result b: t7',
        'result c: t7',
        'assistant:',
      ]);
    }));

  it('given calls that need one resource, they run one after another, and the others run together [TOOL-11]', () =>
    play({}, (s) => {
      s.input();
      s.answer({
        calls: [
          call('a', { resource: 'f' }),
          call('b', { resource: 'f' }),
          call('c'),
          call('d', { parallel: false }),
          call('e'),
        ],
      });
      expect(s.running()).toEqual(['a', 'c']);
      s.toolAnswers('a');
      expect(s.running()).toEqual(['c', 'b']);
      s.toolAnswers('c');
      s.toolAnswers('b');
      expect(s.running()).toEqual(['d']);
      s.toolAnswers('d');
      expect(s.running()).toEqual(['e']);
      s.toolAnswers('e');
      s.answer();
    }));

  it('given a call that cannot run, the model reads why and nothing was called [TOOL-2]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [call('a', { issue: 'tool_not_found' })] });
      expect(s.running()).toEqual([]);
      s.answer();
      expect(s.transcript()).toContain('result a: (failed tool_not_found)');
    }));

  it('given inputs while a run works, they wait for it, higher priority first [SES-6]', () =>
    play({}, (s) => {
      s.input();
      s.input();
      s.input(undefined, { priority: 5 });
      s.answer();
      s.answer();
      s.answer();
      const users = s.transcript().filter((line) => line.startsWith('input'));
      expect(users).toEqual(['input: t10', 'input: t12', 'input: t11']);
      expect(s.state().queued).toBe(0);
    }));

  it('given a steer while the model works, the model reads it before the next step [SES-8]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [call('a')] });
      s.steer();
      s.toolAnswers('a');
      s.answer();
      expect(s.transcript()).toEqual(['input: t10', 'assistant: a', 'result a: t7', 'steer: t11', 'assistant:']);
    }));

  it('given a steer that no step has taken up when the model is done, the run continues for a turn [SES-8]', () =>
    play({}, (s) => {
      s.input();
      s.steer();
      s.answer();
      expect(s.lifecycle()).toBe('Running');
      s.answer();
      expect(s.lifecycle()).toBe('Completed');
      expect(s.facts('HostCommandApplied').map(({ type }) => type)).toEqual(['Steer']);
    }));

  it('given an answer with calls while the run stops, each call has its result and none begins', () =>
    play({}, (s) => {
      s.input();
      s.command({ type: 'Cancel', scope: 'run' });
      s.answer({ calls: [call('a'), call('b')] });
      expect(s.running()).toEqual([]);
      expect(s.transcript().slice(-2)).toEqual(['result a: (cancelled)', 'result b: (cancelled)']);
      expect(s.stop()).toEqual({ kind: 'Cancelled' });
    }));

  it('given a cancel while the run stops for another reason, the run ends by that reason', () =>
    play({ limits: { max_wall_ms: 1_000 } }, (s) => {
      s.input();
      s.answer({ calls: [call('a')] });
      s.later(1_000);
      expect(s.lifecycle()).toBe('Cancelling');
      s.command({ type: 'Cancel', scope: 'run' });
      s.toolAnswers('a');
      expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_wall_ms' });
    }));

  it('given a cancelled turn, no epoch of a step is used twice', () =>
    play({ after_answer: { wait_ms: null } }, (s) => {
      s.input();
      const before = s.state().step_epoch;
      s.command({ type: 'Cancel', scope: 'turn' });
      s.modelEnds({ status: 'cancelled' });
      s.input();
      expect(s.state().step_epoch).toBeGreaterThan(before + 1);
    }));

  it('given warnings with an answer, the fact of the step has them, and otherwise has no warnings', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [call('a', { issue: 'tool_not_found' })] });
      s.answer({ warnings_ref: refOf(13) });
      const warnings = s.facts('LlmStepAnswered').map(({ warnings_ref }) => warnings_ref);
      expect(warnings).toEqual([undefined, refOf(13)]);
    }));
});

describe('a cancel', () => {
  it('given two calls under way, a cancel waits for their reports, and the transcript holds what really happened [SES-17, SES-21]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [call('a'), call('b'), call('c', { parallel: false })] });
      expect(s.command({ type: 'Cancel', scope: 'run' })?.still_queued).toBe(0);
      expect(s.lifecycle()).toBe('Cancelling');
      expect(told(s)).toEqual([true, true]);
      s.toolAnswers('a');
      s.toolEnds('b', { status: 'cancelled' });
      expect(s.lifecycle()).toBe('Cancelled');
      expect(s.transcript()).toEqual([
        'input: t10',
        'assistant: a b c',
        'result a: t7',
        'result b: (interrupted)',
        'result c: (cancelled)',
      ]);
    }));

  it('a cancel is recorded in order: accepted, Cancelling, the outcomes of the calls, applied, Cancelled [SES-17]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [call('a'), call('b')] });
      const before = s.factNames().length;
      s.command({ type: 'Cancel', scope: 'run' });
      s.toolEnds('b', { status: 'cancelled' });
      s.toolAnswers('a');
      expect(s.moves().slice(-2)).toEqual(['Running → Cancelling', 'Cancelling → Cancelled']);
      expect(s.factNames().slice(before)).toEqual([
        'HostCommandAccepted',
        'LifecycleChanged',
        'ToolCallSettled',
        'ToolCallSettled',
        'HostCommandApplied',
        'LifecycleChanged',
      ]);
    }));

  it('given a call that does not stop, a cancel ends after the grace, and the model reads the late answer [SES-19]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [call('a')] });
      s.command({ type: 'Cancel', scope: 'run' });
      s.later(5_000);
      expect(s.lifecycle()).toBe('Cancelled');
      s.toolAnswers('a');
      s.input();
      s.answer();
      expect(s.transcript()).toEqual([
        'input: t10',
        'assistant: a',
        'result a: (interrupted)',
        'late a: ok',
        'input: t11',
        'assistant:',
      ]);
    }));

  it('given a model that was answering, a cancel keeps the partial answer [SES-21]', () =>
    play({}, (s) => {
      s.input();
      s.command({ type: 'Cancel', scope: 'run' });
      s.answer({ finish: 'interrupted' });
      expect(s.lifecycle()).toBe('Cancelled');
      expect(s.transcript()).toEqual(['input: t10', 'assistant (interrupted):']);
    }));

  it('given waiting inputs, they wait for Resume after a cancel [SES-10]', () =>
    play({}, (s) => {
      s.input();
      s.input();
      s.command({ type: 'Cancel', scope: 'run' });
      s.modelEnds({ status: 'cancelled' });
      expect(s.lifecycle()).toBe('Cancelled');
      expect(s.working('llm.generate@2')).toEqual([]);
      s.command({ type: 'Resume' });
      s.answer();
      expect(s.lifecycle()).toBe('Completed');
    }));
});

describe('a pause', () => {
  it('given a model that answers during a pause, nothing is called until the run is resumed [SES-15]', () =>
    play({}, (s) => {
      s.input();
      s.command({ type: 'Pause' });
      s.answer({ calls: [call('a')] });
      expect(s.running()).toEqual([]);
      expect(s.lifecycle()).toBe('Paused');
      s.command({ type: 'Resume' });
      s.toolAnswers('a');
      s.command({ type: 'Pause' });
      s.answer();
      expect(s.lifecycle()).toBe('Paused');
      s.command({ type: 'Resume' });
      expect(s.lifecycle()).toBe('Completed');
    }));
});

describe('an approval', () => {
  it('given a call that needs an approval, the run waits, and continues when the approval is given', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [call('a', { approval: {} }), call('b')] });
      expect(s.lifecycle()).toBe('Running');
      s.toolAnswers('b');
      expect(s.lifecycle()).toBe('WaitingInput: approval');
      s.later(2 * 86_400_000);
      s.decide({ approve: true });
      expect(s.lifecycle()).toBe('Running');
      s.toolAnswers('a');
      s.answer();
      expect(s.lifecycle()).toBe('Completed');
    }));

  it('given a denied call, the model reads that it did not happen [TOOL-9]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [call('a', { approval: {} })] });
      s.decide({ approve: false });
      s.answer();
      expect(s.transcript()).toContain('result a: (denied policy_denied/not_approved)');
    }));
});
