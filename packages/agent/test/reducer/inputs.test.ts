import { describe, expect, it } from 'vitest';
import { SESSION_REDUCER } from '../../src/contracts/index.js';
import { refOf } from '../histories/content.js';
import { KEY, play, type Scene } from './scene.js';

const LISTENS = { after_answer: { wait_ms: 1_000 } } as const;

/** What was said to the model in people's place. */
const said = (s: Scene) => s.transcript().filter((line) => /^(input|follow_up|steer)/.test(line));

describe('a run that stays open after its answer', () => {
  it('takes the next input as its next turn [SES-9]', () =>
    play(LISTENS, (s) => {
      s.input();
      s.answer();
      expect(s.lifecycle()).toBe('WaitingInput: input');
      s.input();
      s.answer();
      expect([s.state().runs, s.state().run?.turns, s.lifecycle()]).toEqual([1, 2, 'WaitingInput: input']);
    }));

  it('is over when nobody says anything in time', () =>
    play(LISTENS, (s) => {
      s.input();
      s.answer();
      s.later(999);
      expect(s.lifecycle()).toBe('WaitingInput: input');
      s.later(1);
      expect(s.stop()).toEqual({ kind: 'Completed' });
    }));

  it('is not over in time while it is paused, and is as soon as it is resumed', () =>
    play(LISTENS, (s) => {
      s.input();
      s.answer();
      s.command({ type: 'Pause' });
      s.later(5_000);
      expect(s.lifecycle()).toBe('Paused');
      s.command({ type: 'Resume' });
      s.later(0);
      expect(s.stop()).toEqual({ kind: 'Completed' });
    }));

  it.each(['input', 'steer'] as const)('takes up a %s that came while it was paused', (what) =>
    play(LISTENS, (s) => {
      s.input();
      s.answer();
      s.command({ type: 'Pause' });
      s[what]();
      s.command({ type: 'Resume' });
      expect(s.lifecycle()).toBe('Running');
      expect(said(s)).toHaveLength(2);
    }),
  );

  it('answers a steer at once', () =>
    play(LISTENS, (s) => {
      s.input();
      s.answer();
      s.steer('mine');
      expect([s.lifecycle(), said(s)]).toEqual(['Running', ['input: t10', 'steer: t11']]);
      expect(s.facts('HostCommandApplied')).toMatchObject([{ command_id: 'mine', type: 'Steer' }]);
    }));

  it('goes on with what waits when a turn of it is cancelled [SES-22]', () =>
    play(LISTENS, (s) => {
      s.input();
      s.input();
      s.command({ type: 'Cancel', scope: 'turn' });
      s.modelEnds({ status: 'cancelled' });
      expect([s.lifecycle(), said(s), s.state().queued]).toEqual(['Running', ['input: t10', 'input: t11'], 0]);
    }));

  it('goes on with what was steered when a turn of it is cancelled, and works again', () =>
    play({ after_answer: { wait_ms: null } }, (s) => {
      s.input();
      s.steer();
      s.command({ type: 'Cancel', scope: 'turn' });
      s.modelEnds({ status: 'cancelled' });
      expect(s.lifecycle()).toBe('Running');
      expect(s.transcript()).toEqual(['input: t10', 'steer: t11']);
      s.answer();
      expect(s.lifecycle()).toBe('WaitingInput: input');
    }));

  it('leaves a turn that was to join it to a run of its own when it ends before, and says so', () =>
    play(LISTENS, (s) => {
      s.input();
      expect(s.input('q')).toMatchObject({ run: 0, queued: true });
      s.command({ type: 'Cancel', scope: 'run' });
      s.modelEnds({ status: 'cancelled' });
      s.input('other');
      s.answer();
      s.later(1_000);
      s.command({ type: 'Resume' });
      expect(s.facts('InputAccepted').at(-1)).toMatchObject({ command_id: 'q', run: 2, queued: false });
      expect(s.state().run?.number).toBe(2);
    }));
});

describe('inputs that wait', () => {
  it('are taken up by priority, and else in the order in which they came [SES-6]', () =>
    play(LISTENS, (s) => {
      s.input();
      for (const id of ['z', 'y', 'x']) s.input(id);
      s.input('first', { priority: 1 });
      for (let i = 0; i < 4; i++) s.answer();
      expect(said(s)).toEqual(['input: t10', 'input: t14', 'input: t11', 'input: t12', 'input: t13']);
    }));

  it('of one id are all taken up', () =>
    play({}, (s) => {
      for (let i = 0; i < 3; i++) s.input('same');
      for (let i = 0; i < 3; i++) s.answer();
      expect([said(s).length, s.state().runs, s.lifecycle()]).toEqual([3, 3, 'Completed']);
    }));

  it('wait for Resume behind a run that failed [SES-10]', () =>
    play({}, (s) => {
      s.input();
      s.input();
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false });
      expect(s.state()).toMatchObject({ queued: 1, queue_suspended: true });
      s.command({ type: 'Resume' });
      expect(s.lifecycle()).toBe('Running');
    }));

  it('hold nobody up when the last of them is taken back', () =>
    play({}, (s) => {
      s.input();
      s.input('q');
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false });
      s.command({ type: 'Withdraw', command_id: 'q' });
      s.input();
      s.input();
      s.answer();
      expect([s.lifecycle(), s.state().queued]).toEqual(['Running', 0]);
    }));

  it('are 256 at most', () =>
    play({}, (s) => {
      s.input();
      for (let i = 0; i < 256; i++) s.input();
      expect(s.input('more')?.code).toBe('queue_full');
      expect(s.followUp('too')?.code).toBe('queue_full');
    }));

  it('are taken away by a cancel of all, and counted by one of the run [SES-22]', () =>
    play({}, (s) => {
      s.input();
      s.input();
      expect(s.command({ type: 'Cancel', scope: 'run' })).toMatchObject({ still_queued: 1 });
      expect(s.command({ type: 'Cancel', scope: 'all' })).toMatchObject({ still_queued: 0 });
      s.modelEnds({ status: 'cancelled' });
      expect(s.state()).toMatchObject({ queued: 0, queue_suspended: false, lifecycle: 'Cancelled' });
    }));

  it('that begin with a file are accepted under its link', () =>
    play({}, (s) => {
      const file = { kind: 'blob', blob_ref: refOf(3), media_type: 'image/png', view: 'full' };
      s.send('aos.agent/UserInput@1', { parts: [file], command_id: 'f', priority: 0, cause: { kind: 'operator' } });
      expect(s.facts('InputAccepted')).toMatchObject([{ first_ref: refOf(3) }]);
    }));
});

describe('a command', () => {
  it('Withdraw takes back a steer, a follow-up or an input that was not taken up, and nothing else', () =>
    play({}, (s) => {
      s.input('first');
      s.steer('s');
      s.followUp('f');
      s.input('i');
      for (const command_id of ['s', 'f', 'i'])
        expect(s.command({ type: 'Withdraw', command_id })?.code).toBeUndefined();
      for (const command_id of ['s', 'first', 'junk'])
        expect(s.command({ type: 'Withdraw', command_id })?.code).toBe('unknown_command');
      s.answer();
      expect([s.lifecycle(), said(s)]).toEqual(['Completed', ['input: t10']]);
    }));

  it('Steer is taken sixteen times between two steps', () =>
    play({}, (s) => {
      s.input();
      for (let i = 0; i < 16; i++) expect(s.steer()?.code).toBeUndefined();
      expect(s.steer('more')?.code).toBe('too_many_steers');
      s.answer();
      expect(said(s)).toHaveLength(17);
    }));

  it('Note stands with the result of its call', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a' }] });
      s.command({ type: 'Note', call_id: 'a', text_ref: refOf(31) });
      expect(s.state().calls[0]?.note_ref?.hex).toBe(refOf(31).hex);
    }));

  it('Reconfigure counts from the next step on [SES-14]', () =>
    play({}, (s) => {
      s.input();
      s.command({ type: 'Reconfigure', patch: { model: 'other' } });
      s.answer({ calls: [{ id: 'a', issue: 'tool_not_found' }] });
      expect(s.facts('LlmStepRequested').map(({ model, config_rev }) => [model, config_rev])).toEqual([
        ['main', 1],
        ['other', 2],
      ]);
    }));

  it('Close ends everything at once where nothing runs, and within the grace where something does [SES-4]', () =>
    play({}, (s) => {
      s.input();
      s.answer({ calls: [{ id: 'a' }] });
      s.input();
      s.command({ type: 'Close' });
      expect(s.state()).toMatchObject({ status: 'Closed', queued: 0, lifecycle: 'Cancelling' });
      const { now } = s.world;
      expect(s.world.cell(SESSION_REDUCER, KEY)?.timers).toEqual({ stop: now + 5_000 + 1_000 });
      s.later(6_000);
      expect(s.state().lifecycle).toBe('Cancelled');
    }));

  it('Steer with a pin keeps what it says in every window, and no other', () =>
    play({}, (s) => {
      s.input();
      s.command({ type: 'Steer', parts: [s.text()], pin: true });
      s.steer();
      s.answer();
      expect(s.state().window.pins).toEqual([2]);
    }));

  it('Reconfigure is told of with what counts from then on', () =>
    play({}, (s) => {
      s.command({ type: 'Reconfigure', patch: { model: 'other' } });
      expect(s.facts('ConfigChanged').at(-1)).toMatchObject({ config_rev: 2, model: 'other', from_run: null });
    }));
});

describe('a definition', () => {
  const models = (s: Scene) => s.facts('LlmStepRequested').map(({ model }) => model);
  const again = { calls: [{ id: 'a', issue: 'tool_not_found' as const }] };

  it('for the next run leaves the run at hand as it is [SES-16]', () =>
    play({}, (s) => {
      s.input();
      s.adopt({ model: 'other' }, 'next_run');
      s.answer(again);
      s.answer();
      s.input();
      expect(models(s)).toEqual(['main', 'main', 'other']);
    }));

  it('for the next step counts in the run at hand', () =>
    play({}, (s) => {
      s.input();
      s.adopt({ model: 'other' }, 'next_step');
      s.answer(again);
      expect(models(s)).toEqual(['main', 'other']);
    }));

  it('for a session that is pinned to its own is not taken [SES-16]', () =>
    play({}, (s) => {
      s.adopt({ model: 'other' }, 'pin');
      s.input();
      expect(models(s)).toEqual(['main']);
    }));

  it('whose model it does not list itself is refused', () =>
    play({}, (s) => {
      const before = s.bytes();
      expect(s.adopt({ model: 'gone' })).toBe('request_rejected');
      expect(s.bytes()).toEqual(before);
    }));
});
