import { describe, expect, it } from 'vitest';
import { STOP_TIMER } from '../../src/reducer/call/waiting.js';
import { refOf } from '../histories/content.js';
import { play, type Scene } from './scene.js';

/** How each command ended, in order. */
function ends(s: Scene): string[] {
  return s
    .factNames()
    .map((name, at) => ({ name, at }))
    .filter(({ name }) => name === 'HostCommandApplied' || name === 'HostCommandDropped')
    .map(({ name, at }) => {
      const nth = s
        .factNames()
        .slice(0, at)
        .filter((other) => other === name).length;
      const fact = s.facts(name)[nth];
      const why = fact?.why === undefined ? '' : `: ${fact.why}`;
      return `${fact?.type} ${fact?.command_id} ${name.slice('HostCommand'.length).toLowerCase()}${why}`;
    });
}

/** The inputs that were dropped, with the reason. */
const dropped = (s: Scene) =>
  s.facts('InputDropped').map(({ run, command_id, why }) => `${command_id} r${run}: ${why}`);

describe('every input that was accepted ends once', () => {
  it('a withdrawn queued input ends its run [SES-26]', () =>
    play({}, (s) => {
      s.input('one');
      s.input('two');
      s.command({ type: 'Withdraw', command_id: 'two' }, { id: 'w' });
      expect(dropped(s)).toEqual(['two r1: withdrawn']);
      expect(ends(s)).toEqual(['Withdraw w applied']);
    }));

  it('a cancel of everything ends the runs of all queued inputs [SES-26]', () =>
    play({}, (s) => {
      s.input('one');
      s.input('two');
      s.followUp('three');
      s.command({ type: 'Cancel', scope: 'all' }, { id: 'c' });
      s.modelEnds({ status: 'cancelled' });
      expect(dropped(s)).toEqual(['two r1: cancelled', 'three r2: cancelled']);
      expect(ends(s)).toEqual(['FollowUp three dropped: cancelled', 'Cancel c applied']);
    }));

  it('a closed session ends the runs of all queued inputs [SES-26]', () =>
    play({}, (s) => {
      s.input('one');
      s.input('two');
      s.command({ type: 'Close' }, { id: 'c' });
      s.modelEnds({ status: 'cancelled' });
      expect(dropped(s)).toEqual(['two r1: closed']);
      expect(ends(s)).toEqual(['Close c applied']);
    }));

  it('an input that was to be a turn of an ended run is recorded with the run that answers it [SES-26]', () =>
    play({ after_answer: { wait_ms: null } }, (s) => {
      s.input('one');
      s.input('two');
      s.command({ type: 'Cancel', scope: 'run' });
      s.modelEnds({ status: 'cancelled' });
      s.command({ type: 'Resume' });
      expect(s.facts('InputAccepted').map(({ command_id, run, moved_from }) => [command_id, run, moved_from])).toEqual([
        ['one', 0, undefined],
        ['two', 0, undefined],
        ['two', 1, 0],
      ]);
      expect(s.facts('TurnStarted').map(({ run, command_id }) => [run, command_id])).toEqual([
        [0, 'one'],
        [1, 'two'],
      ]);
    }));

  it('a dropped turn is recorded when its run continues without it [SES-26]', () =>
    play({ after_answer: { wait_ms: null } }, (s) => {
      s.input('one');
      s.input('two');
      s.command({ type: 'Withdraw', command_id: 'two' });
      expect(s.facts('InputDropped')).toEqual([{ run: 0, command_id: 'two', turn: true, why: 'withdrawn' }]);
    }));
});

describe('every command that was accepted is applied or dropped, once', () => {
  it('a steer is dropped, and recorded as dropped, when its run fails or is cancelled before a step takes it up [SES-8, SES-11]', () =>
    play({}, (s) => {
      s.input();
      s.steer('s');
      s.modelEnds({ status: 'error', code: 'provider_error_terminal', retryable: false });
      s.input();
      s.steer('t');
      s.command({ type: 'Cancel', scope: 'run' }, { id: 'c' });
      s.modelEnds({ status: 'cancelled' });
      expect(ends(s)).toEqual(['Steer s dropped: run_ended', 'Cancel c applied', 'Steer t dropped: run_ended']);
    }));

  it('a steer is never applied at a step that a limit forbids [SES-8, SES-11]', () =>
    play({ limits: { max_steps: 1 } }, (s) => {
      s.input();
      s.steer('s');
      s.answer();
      expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_steps' });
      expect(ends(s)).toEqual(['Steer s dropped: run_ended']);
      expect(s.transcript().filter((line) => line.startsWith('steer'))).toEqual([]);
    }));

  it('a steer that a limit delays is shown to the model at the step after the limit is raised [SES-8]', () =>
    play({ limits: { max_steps: 1, on_limit: 'pause_and_ask' } }, (s) => {
      s.input();
      s.steer('s');
      s.answer();
      expect(ends(s)).toEqual([]);
      s.command({ type: 'Reconfigure', patch: { limits: { max_steps: 2 } } }, { id: 'r' });
      expect(ends(s)).toEqual(['Reconfigure r applied', 'Steer s applied']);
      expect(s.facts('HostCommandApplied').at(-1)).toMatchObject({ step: 2, at: { run: 0, turn: 2, step: 2 } });
    }));

  it('a waiting steer counts against the turns of its run [SES-8, LIM-1]', () =>
    play({ limits: { max_turns: 1 } }, (s) => {
      s.input();
      s.steer('s');
      s.answer();
      expect(s.stop()).toEqual({ kind: 'LimitsExceeded', limit: 'max_turns' });
      expect(ends(s)).toEqual(['Steer s dropped: run_ended']);
    }));

  it('a close after a cancel is applied under its own name [SES-11]', () =>
    play({}, (s) => {
      s.input();
      s.command({ type: 'Cancel', scope: 'run' }, { id: 'one' });
      s.command({ type: 'Cancel', scope: 'all' }, { id: 'two' });
      s.command({ type: 'Close' }, { id: 'three' });
      expect(ends(s)).toEqual([]);
      s.modelEnds({ status: 'cancelled' });
      expect(ends(s)).toEqual(['Cancel one applied', 'Cancel two applied', 'Close three applied']);
    }));

  it('Pause, Resume, Reconfigure, Withdraw and Spawn are applied when they are accepted [SES-11]', () =>
    play({}, (s) => {
      s.input();
      s.followUp('f');
      s.command({ type: 'Pause' }, { id: 'p' });
      s.command({ type: 'Resume' }, { id: 'r' });
      s.command({ type: 'Reconfigure', patch: {} }, { id: 'c' });
      s.steer('s');
      s.command({ type: 'Withdraw', command_id: 's' }, { id: 'w' });
      s.answer({ calls: [{ id: 'k' }] });
      expect(ends(s)).toEqual([
        'Pause p applied',
        'Resume r applied',
        'Reconfigure c applied',
        'Steer s dropped: withdrawn',
        'Withdraw w applied',
      ]);
      s.toolAnswers('k');
      s.answer();
      expect(ends(s).slice(5)).toEqual(['FollowUp f applied']);
    }));

  it('a cancel of waiting inputs is applied at once when no run is under way [SES-11]', () =>
    play({}, (s) => {
      s.input();
      s.input('two');
      s.command({ type: 'Cancel', scope: 'run' }, { id: 'one' });
      s.modelEnds({ status: 'cancelled' });
      s.command({ type: 'Cancel', scope: 'all' }, { id: 'all' });
      expect(ends(s)).toEqual(['Cancel one applied', 'Cancel all applied']);
      expect(dropped(s)).toEqual(['two r1: cancelled']);
    }));

  it('a requested summary that is not written is dropped, also when the next definition permits none [SES-11]', () =>
    play({}, (s) => {
      s.input();
      s.answer();
      s.command({ type: 'Compact' }, { id: 'c' });
      s.adopt({ compaction: null });
      s.input();
      expect(ends(s)).toEqual(['Compact c dropped: compaction_off']);
    }));

  it('a requested summary is dropped when the session closes first [SES-11]', () =>
    play({}, (s) => {
      s.input();
      s.answer();
      s.command({ type: 'Compact' }, { id: 'c' });
      s.command({ type: 'Close' }, { id: 'x' });
      expect(ends(s)).toEqual(['Compact c dropped: closed', 'Close x applied']);
    }));

  it('a summary that a cancelled turn interrupted by its watchdog, and the summary requested after it, each end once [SES-11]', () => {
    const compaction = { at: 85 as const, keep: 1, model: null, ask_ref: refOf(18) };
    return play({ after_answer: { wait_ms: null }, context_window: 100, compaction }, (s) => {
      const unknown = [{ id: 'a', issue: 'tool_not_found' as const }];
      s.input();
      for (const tokens_in of [30, 60]) s.answer({ calls: unknown, usage: { calls: 1, tokens_in, tokens_out: 0 } });
      s.command({ type: 'Compact' }, { id: 'first' });
      s.answer({ calls: unknown, usage: { calls: 1, tokens_in: 61, tokens_out: 0 } });
      s.command({ type: 'Cancel', scope: 'turn' }, { id: 'cancel' });
      s.send('sys/TimerFired@1', { name: STOP_TIMER, due: 1 });
      expect([s.lifecycle(), s.state().run?.compacting]).toEqual(['WaitingInput: input', null]);
      expect(s.command({ type: 'Compact' }, { id: 'second' })?.code).toBe('already_compacting');
      s.command({ type: 'Close' }, { id: 'close' });
      expect(ends(s)).toEqual(['Cancel cancel applied', 'Compact first dropped: closed', 'Close close applied']);
    });
  });

  it('only a bounded number of cancels may wait for one end; a close may always wait', () =>
    play({}, (s) => {
      s.input();
      const codes = Array.from({ length: 10 }, () => s.command({ type: 'Cancel', scope: 'run' })?.code);
      expect(codes.filter((code) => code === 'cancelling')).toHaveLength(2);
      expect(s.command({ type: 'Close' })?.code).toBeUndefined();
    }));
});

describe('records that belong to a run', () => {
  it('facts about commands and configurations state their run, turn and step [EVT-2]', () =>
    play({}, (s) => {
      s.command({ type: 'Reconfigure', patch: {} });
      s.input();
      s.command({ type: 'Reconfigure', patch: {} });
      s.command({ type: 'Resume' });
      const here = { run: 0, turn: 1, step: 1 };
      expect(s.facts('ConfigChanged').map(({ at }) => at)).toEqual([undefined, undefined, here]);
      expect(s.facts('HostCommandAccepted').map(({ at }) => at)).toEqual([undefined, here]);
      expect(s.facts('HostCommandRejected').map(({ at }) => at)).toEqual([here]);
    }));

  it('a fact about a cancel states the reason', () =>
    play({}, (s) => {
      s.input();
      const reason_ref = s.text().text_ref;
      s.command({ type: 'Cancel', scope: 'run', reason_ref });
      expect(s.facts('HostCommandAccepted')).toMatchObject([{ reason_ref }]);
    }));
});
