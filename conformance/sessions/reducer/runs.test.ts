import { describe, expect, it } from 'vitest';
import { play } from './stage.js';

const call = (id: string, more: object = {}) => ({ id, tool: 'echo', args: { id }, ...more });

describe('a run', () => {
  it('given an answer without calls, it completes', () =>
    play({}, async (s) => {
      await s.input('Hi');
      expect(await s.lifecycle()).toBe('Running');
      await s.answer({ text: 'Hello.' });
      expect(await s.lifecycle()).toBe('Completed');
      expect(await s.transcript()).toEqual(['input: Hi', 'assistant:']);
      expect((await s.state()).last?.stop).toEqual({ kind: 'Completed' });
    }));

  it('given calls, their results stand together in the order of the calls, whatever order they end in', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.answer({ calls: [call('a'), call('b'), call('c')] });
      for (const id of ['c', 'a', 'b']) await s.toolAnswers(id);
      await s.answer({ text: 'Done.' });
      expect(await s.transcript()).toEqual([
        'input: Go',
        'assistant: a b c',
        'result a: result of a',
        'result b: result of b',
        'result c: result of c',
        'assistant:',
      ]);
    }));

  it('given calls of one resource, they run one after another; the rest runs together', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.answer({
        calls: [
          call('a', { resource: 'f' }),
          call('b', { resource: 'f' }),
          call('c'),
          call('d', { parallel: false }),
          call('e'),
        ],
      });
      const running = () => s.called.map(({ params }) => params.call_id);
      expect(running()).toEqual(['a', 'c']);
      await s.toolAnswers('a');
      expect(running()).toEqual(['c', 'b']);
      await s.toolAnswers('c');
      await s.toolAnswers('b');
      expect(running()).toEqual(['d']);
      await s.toolAnswers('d');
      expect(running()).toEqual(['e']);
      await s.toolAnswers('e');
      await s.answer({});
    }));

  it('given a call that cannot run, the model reads why and nothing was called', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.answer({ calls: [call('a', { issue: 'tool_not_found' })] });
      expect(s.called).toEqual([]);
      await s.answer({ text: 'Oh.' });
      expect(await s.transcript()).toContain('result a: (failed tool_not_found)');
    }));

  it('given inputs while it runs, they wait for it, higher priority first', () =>
    play({}, async (s) => {
      await s.input('one');
      await s.input('low');
      await s.input('high', { priority: 5 });
      await s.answer({});
      await s.answer({});
      await s.answer({});
      const users = (await s.transcript()).filter((line) => line.startsWith('input'));
      expect(users).toEqual(['input: one', 'input: high', 'input: low']);
      expect((await s.state()).queued).toBe(0);
    }));

  it('given a steer while the model works, it is said before the next step', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.answer({ calls: [call('a')] });
      await s.steer('Left!');
      await s.toolAnswers('a');
      await s.answer({ text: 'Done.' });
      expect(await s.transcript()).toEqual([
        'input: Go',
        'assistant: a',
        'result a: result of a',
        'steer: Left!',
        'assistant:',
      ]);
    }));

  it('given a steer that no step has taken up when the model is done, the run goes on for a turn', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.steer('Wait.');
      await s.answer({ text: 'Done.' });
      expect(await s.lifecycle()).toBe('Running');
      await s.answer({ text: 'Well then.' });
      expect(await s.lifecycle()).toBe('Completed');
      expect((await s.facts('HostCommandApplied')).map(({ type }) => type)).toEqual(['Steer']);
    }));
});

describe('a cancel', () => {
  it('given two calls under way, it waits for what they say, and the transcript holds what really happened', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.answer({ calls: [call('a'), call('b'), call('c', { parallel: false })] });
      const { status, still_queued } = await s.command({ type: 'Cancel', scope: 'run' });
      expect([status, still_queued]).toEqual(['accepted', 0]);
      expect(await s.lifecycle()).toBe('Cancelling');
      expect(s.called.every(({ told }) => told)).toBe(true);
      await s.toolAnswers('a');
      await s.toolEnds('b', { status: 'cancelled' });
      expect(await s.lifecycle()).toBe('Cancelled');
      expect(await s.transcript()).toEqual([
        'input: Go',
        'assistant: a b c',
        'result a: result of a',
        'result b: (interrupted)',
        'result c: (cancelled)',
      ]);
    }));

  it('given a call that does not stop, it is over after the grace, and the late answer is told the model', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.answer({ calls: [call('a')] });
      await s.command({ type: 'Cancel', scope: 'run' });
      await s.later(5_000);
      expect(await s.lifecycle()).toBe('Cancelled');
      await s.toolAnswers('a');
      await s.input('And now?');
      await s.answer({});
      expect(await s.transcript()).toEqual([
        'input: Go',
        'assistant: a',
        'result a: (interrupted)',
        'late a: ok',
        'input: And now?',
        'assistant:',
      ]);
    }));

  it('given a model that was speaking, what it had said stays', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.command({ type: 'Cancel', scope: 'run' });
      await s.answer({ text: 'I was ab', finish: 'interrupted' });
      expect(await s.lifecycle()).toBe('Cancelled');
      expect(await s.transcript()).toEqual(['input: Go', 'assistant (interrupted):']);
    }));

  it('given inputs that wait, they wait for Resume', () =>
    play({}, async (s) => {
      await s.input('one');
      await s.input('two');
      await s.command({ type: 'Cancel', scope: 'run' });
      await s.failStep({ status: 'cancelled' });
      expect(await s.lifecycle()).toBe('Cancelled');
      expect(s.asked).toEqual([]);
      await s.command({ type: 'Resume' });
      await s.answer({});
      expect(await s.lifecycle()).toBe('Completed');
    }));
});

describe('a pause', () => {
  it('given a model that answers meanwhile, nothing is called until it is resumed', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.command({ type: 'Pause' });
      await s.answer({ calls: [call('a')] });
      expect(s.called).toEqual([]);
      expect(await s.lifecycle()).toBe('Paused');
      await s.command({ type: 'Resume' });
      await s.toolAnswers('a');
      await s.command({ type: 'Pause' });
      await s.answer({ text: 'Done.' });
      expect(await s.lifecycle()).toBe('Paused');
      await s.command({ type: 'Resume' });
      expect(await s.lifecycle()).toBe('Completed');
    }));
});

describe('an approval', () => {
  it('given a call that needs one, the run waits for it, and goes on when it is given', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.answer({ calls: [call('a', { approval: {} }), call('b')] });
      expect(await s.lifecycle()).toBe('Running');
      await s.toolAnswers('b');
      expect(await s.lifecycle()).toBe('WaitingInput: approval');
      const [item] = await s.world.open();
      await s.later(2 * 86_400_000);
      await s.world.decide(item as never, { approve: true }, { as: 'human:ann' });
      await s.quiet();
      expect(await s.lifecycle()).toBe('Running');
      await s.toolAnswers('a');
      await s.answer({});
      expect(await s.lifecycle()).toBe('Completed');
    }));

  it('given a denial, the model reads that it did not happen', () =>
    play({}, async (s) => {
      await s.input('Go');
      await s.answer({ calls: [call('a', { approval: {} })] });
      const [item] = await s.world.open();
      await s.world.decide(item as never, { approve: false }, { as: 'human:ann' });
      await s.quiet();
      await s.answer({});
      expect(await s.transcript()).toContain('result a: (denied policy_denied/not_approved)');
    }));
});
