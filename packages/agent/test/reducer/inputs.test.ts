import { describe, expect, it } from 'vitest';
import { SESSION_REDUCER } from '../../src/contracts/index.js';
import { sentIn } from '../../src/history/messages.js';
import { refOf } from '../histories/content.js';
import { CONFIG, KEY, play, type Scene } from './scene.js';

const LISTENS = { after_answer: { wait_ms: 1_000 } } as const;

/** What was said to the model in people's place. */
const said = (s: Scene) => s.transcript().filter((line) => /^(input|follow_up|steer)/.test(line));

describe('an input that comes with a definition', () => {
  const input = (s: Scene) => ({
    parts: [s.text()],
    command_id: 'first',
    priority: 0,
    cause: { kind: 'app', reason: 'x' },
  });
  const adopt = (s: Scene, steps: number, key: string) =>
    s.send(
      'aos.agent/AgentAdopted@1',
      {
        def_ref: refOf(2),
        config: { ...CONFIG, limits: { ...CONFIG.limits, max_steps: steps } },
        adopt: 'next_run',
        agents: [],
        input: input(s),
      },
      key,
    );

  it('a new session takes both in one delivery, and its run works by that definition [SES-9]', () =>
    play({}, (s) => {
      expect(adopt(s, 3, 'other')).toBeUndefined();
      expect(s.state('other')).toMatchObject({
        runs: 1,
        inputs: 1,
        lifecycle: 'Running',
        run: { config: { limits: { max_steps: 3 } } },
      });
    }));

  it('a session with a run under way queues the input behind it, and keeps the definition for the next run', () =>
    play({}, (s) => {
      s.input();
      const before = s.state().run?.config;
      expect(adopt(s, 3, KEY)).toBeUndefined();
      expect(s.state()).toMatchObject({ queued: 1, runs: 2, config: { limits: { max_steps: 3 } } });
      expect(s.state().run?.config).toEqual(before);
      s.answer();
      expect(s.state().run).toMatchObject({ number: 1, config: { limits: { max_steps: 3 } } });
    }));

  it('readers of a frame see the message of such an input', () =>
    play({}, (s) => {
      const value = { adopt: 'next_run', input: input(s) };
      const event = { name: 'aos.agent/AgentAdopted@1', value };
      const record = { kind: 'event', c: 0, to: [SESSION_REDUCER, KEY], event, from: ['tree/Tree@1', 't'] };
      const [sent, ...more] = sentIn({ records: [record as never] });
      expect(sent).toMatchObject({ type: 'UserInput', command_id: 'first', session: KEY, parts: value.input.parts });
      expect(more).toEqual([]);
      const without = { ...record, event: { ...event, value: { adopt: 'next_run' } } };
      expect(sentIn({ records: [without as never] })).toEqual([]);
    }));
});

describe('a run that stays open after its answer', () => {
  it('an open run takes the next input as its next turn [SES-9]', () =>
    play(LISTENS, (s) => {
      s.input();
      s.answer();
      expect(s.lifecycle()).toBe('WaitingInput: input');
      s.input();
      s.answer();
      expect([s.state().runs, s.state().run?.turns, s.lifecycle()]).toEqual([1, 2, 'WaitingInput: input']);
    }));

  it('an open run ends when no input arrives in time', () =>
    play(LISTENS, (s) => {
      s.input();
      s.answer();
      s.later(999);
      expect(s.lifecycle()).toBe('WaitingInput: input');
      s.later(1);
      expect(s.stop()).toEqual({ kind: 'Completed' });
    }));

  it('an open run does not expire while it is paused, and expires as soon as it is resumed', () =>
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

  it.each(['input', 'steer'] as const)('an open run takes up a %s that arrived while it was paused', (what) =>
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

  it('an open run answers a steer at once', () =>
    play(LISTENS, (s) => {
      s.input();
      s.answer();
      s.steer('mine');
      expect([s.lifecycle(), said(s)]).toEqual(['Running', ['input: t10', 'steer: t11']]);
      expect(s.facts('HostCommandApplied')).toMatchObject([{ command_id: 'mine', type: 'Steer' }]);
    }));

  it('an open run continues with the waiting inputs when a turn of it is cancelled [SES-22]', () =>
    play(LISTENS, (s) => {
      s.input();
      s.input();
      s.command({ type: 'Cancel', scope: 'turn' });
      s.modelEnds({ status: 'cancelled' });
      expect([s.lifecycle(), said(s), s.state().queued]).toEqual(['Running', ['input: t10', 'input: t11'], 0]);
    }));

  it('an open run continues with the waiting steer when a turn of it is cancelled', () =>
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

  it('an input that was to join an open run becomes a run of its own when that run ends first, and a fact records it', () =>
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
  it('waiting inputs are taken up by priority, and then in the order of their arrival [SES-6]', () =>
    play(LISTENS, (s) => {
      s.input();
      for (const id of ['z', 'y', 'x']) s.input(id);
      s.input('first', { priority: 1 });
      for (let i = 0; i < 4; i++) s.answer();
      expect(said(s)).toEqual(['input: t10', 'input: t14', 'input: t11', 'input: t12', 'input: t13']);
    }));

  it('waiting inputs with the same id are all taken up', () =>
    play({}, (s) => {
      for (let i = 0; i < 3; i++) s.input('same');
      for (let i = 0; i < 3; i++) s.answer();
      expect([said(s).length, s.state().runs, s.lifecycle()]).toEqual([3, 3, 'Completed']);
    }));

  it('waiting inputs behind a failed run wait for Resume [SES-10]', () =>
    play({}, (s) => {
      s.input();
      s.input();
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false });
      expect(s.state()).toMatchObject({ queued: 1, queue_suspended: true });
      s.command({ type: 'Resume' });
      expect(s.lifecycle()).toBe('Running');
    }));

  it('a suspended queue whose last input is withdrawn does not delay the next input', () =>
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

  it('at most 256 inputs may wait', () =>
    play({}, (s) => {
      s.input();
      for (let i = 0; i < 256; i++) s.input();
      expect(s.input('more')?.code).toBe('queue_full');
      expect(s.followUp('too')?.code).toBe('queue_full');
    }));

  it('a cancel of all removes the waiting inputs, and a cancel of the run counts them [SES-22]', () =>
    play({}, (s) => {
      s.input();
      s.input();
      expect(s.command({ type: 'Cancel', scope: 'run' })).toMatchObject({ still_queued: 1 });
      expect(s.command({ type: 'Cancel', scope: 'all' })).toMatchObject({ still_queued: 0 });
      s.modelEnds({ status: 'cancelled' });
      expect(s.state()).toMatchObject({ queued: 0, queue_suspended: false, lifecycle: 'Cancelled' });
    }));

  it('an input that begins with a file is accepted with the file’s link', () =>
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

  it('at most sixteen steers are accepted between two steps', () =>
    play({}, (s) => {
      s.input();
      for (let i = 0; i < 16; i++) expect(s.steer()?.code).toBeUndefined();
      expect(s.steer('more')?.code).toBe('too_many_steers');
      s.answer();
      expect(said(s)).toHaveLength(17);
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

  it('Close ends an idle session at once, and a working session within its grace [SES-4]', () =>
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

  it('a pinned Steer stays in every window, and an unpinned one does not', () =>
    play({}, (s) => {
      s.input();
      s.command({ type: 'Steer', parts: [s.text()], pin: true });
      s.steer();
      s.answer();
      expect(s.state().window.pins).toEqual([2]);
    }));

  it('Reconfigure is recorded with the configuration that counts from then on', () =>
    play({}, (s) => {
      s.command({ type: 'Reconfigure', patch: { model: 'other' } });
      expect(s.facts('ConfigChanged').at(-1)).toMatchObject({ config_rev: 2, model: 'other', from_run: null });
    }));
});

describe('a definition', () => {
  const models = (s: Scene) => s.facts('LlmStepRequested').map(({ model }) => model);
  const again = { calls: [{ id: 'a', issue: 'tool_not_found' as const }] };

  it('a definition for the next run leaves the current run unchanged [SES-16]', () =>
    play({}, (s) => {
      s.input();
      s.adopt({ model: 'other' }, 'next_run');
      s.answer(again);
      s.answer();
      s.input();
      expect(models(s)).toEqual(['main', 'main', 'other']);
    }));

  it('a definition for the next step counts in the current run', () =>
    play({}, (s) => {
      s.input();
      s.adopt({ model: 'other' }, 'next_step');
      s.answer(again);
      expect(models(s)).toEqual(['main', 'other']);
    }));

  it('a session that is pinned to its definition refuses another one [SES-16]', () =>
    play({}, (s) => {
      s.adopt({ model: 'other' }, 'pin');
      s.input();
      expect(models(s)).toEqual(['main']);
    }));

  it('a definition that does not list its own model is refused', () =>
    play({}, (s) => {
      const before = s.bytes();
      expect(s.adopt({ model: 'gone' })).toBe('request_rejected');
      expect(s.bytes()).toEqual(before);
    }));
});
