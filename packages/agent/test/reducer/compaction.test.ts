import type { LlmGenerateParams } from '@reprise/contracts';
import { equalBytes } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import { llmGenerate } from '../../src/plans/effects.js';
import { refOf } from '../histories/content.js';
import { type Change, play, type Scene } from './scene.js';

const KEEP_ONE: Change = {
  context_window: 100,
  compaction: { at: 85, keep: 1, model: null, ask_ref: refOf(18) },
};
const LIMIT = 'provider_error_terminal/context_limit';

/** A step with a call that is answered at once, after which the window holds so many tokens. */
function round(s: Scene, tokens: number): void {
  s.answer({ calls: [{ id: 'a', issue: 'tool_not_found' }], usage: { calls: 1, tokens_in: tokens, tokens_out: 0 } });
}

/** What the model that is at work was asked. */
function asked(s: Scene): LlmGenerateParams {
  return s.working(llmGenerate.name)[0]?.leaf.params as unknown as LlmGenerateParams;
}

function windowFails(s: Scene): void {
  s.modelEnds({ status: 'error', code: LIMIT, retryable: false });
}

/** Three rounds, the last of which fills the window. */
function filled(s: Scene): void {
  s.input();
  for (const tokens of [30, 60, 86]) round(s, tokens);
}

describe('making room in the window of the model', () => {
  it('given pressure at the configured level, the next step waits for a summary of all but the last answers [MOD-21]', () =>
    play(KEEP_ONE, (s) => {
      filled(s);
      // input, answer, result, answer, result | answer, result
      expect(asked(s).summarise).toEqual({ to: 5, ask_ref: refOf(18) });
      expect(asked(s)).toMatchObject({ tool_choice: 'none', window: { from: 0 } });
      s.answer({ usage: { calls: 1, tokens_in: 86, tokens_out: 9 } });
      expect(asked(s).window).toEqual({ from: 5, base_ref: refOf(5) });
      expect(asked(s).summarise).toBeUndefined();
      expect(s.facts('ContextCompacted')).toMatchObject([{ cause: 'pressure', from: 0, to: 5 }]);
      expect(s.transcript()).toHaveLength(7);
    }));

  it('the run pays for its summary, which does not count as a step', () =>
    play(KEEP_ONE, (s) => {
      filled(s);
      const { steps, tokens_in } = s.state().run?.tally ?? { steps: 0, tokens_in: 0 };
      s.answer({ usage: { calls: 1, tokens_in: 50, tokens_out: 0 } });
      expect(s.state().run?.tally).toMatchObject({ steps: steps + 1, tokens_in: tokens_in + 50 });
    }));

  it('the next summary covers the last summary and the items since [MOD-21]', () =>
    play(KEEP_ONE, (s) => {
      filled(s);
      s.answer();
      for (const tokens of [40, 90]) round(s, tokens);
      expect(asked(s)).toMatchObject({ window: { from: 5, base_ref: refOf(5) }, summarise: { to: 9 } });
    }));

  it('given a window that is still full behind a summary, the session compacts again', () =>
    play(KEEP_ONE, (s) => {
      filled(s);
      s.answer();
      round(s, 88);
      expect(s.facts('CompactionStarted')).toMatchObject([{ to: 5 }, { from: 5, to: 7 }]);
    }));

  it('given answers too large to stay, only items that await an answer stay', () =>
    play({ ...KEEP_ONE, compaction: { at: 85, keep: 3, model: null, ask_ref: refOf(18) } }, (s) => {
      s.input();
      for (const tokens of [10, 20, 30, 88]) round(s, tokens);
      expect(asked(s).summarise?.to).toBe(7); // the last answer alone grew the window by more than a quarter
    }));

  it('pinned items stay in every window [MOD-22]', () =>
    play(KEEP_ONE, (s) => {
      const pinned = { parts: [s.text()], command_id: 'p', priority: 0, cause: { kind: 'operator' }, pin: true };
      s.send('aos.agent/UserInput@1', pinned);
      for (const tokens of [30, 60, 86]) round(s, tokens);
      s.answer();
      expect(asked(s).window).toMatchObject({ from: 5, pins: [0] });
    }));

  it('another model than the session’s own may write the summary', () =>
    play({ ...KEEP_ONE, compaction: { at: 85, keep: 1, model: 'other', ask_ref: refOf(18) } }, (s) => {
      filled(s);
      expect(asked(s).model).toBe('other');
      s.answer();
      expect(asked(s).model).toBe('main');
    }));

  it.each([
    ['fails', (s: Scene) => s.modelEnds({ status: 'error', code: 'provider_error_terminal/auth', retryable: false })],
    ['says nothing', (s: Scene) => s.modelEnds(blank())],
  ] as const)('given a summary that %s, the window stays as it is and the run continues [MOD-24]', (_, end) =>
    play(KEEP_ONE, (s) => {
      filled(s);
      end(s);
      expect(s.facts('CompactionGaveUp')).toHaveLength(1);
      expect(asked(s).window).toEqual({ from: 0 });
      expect(s.lifecycle()).toBe('Running');
    }),
  );

  it('given a model with a smaller window, the session compacts before that model’s first step', () =>
    play({ ...KEEP_ONE, context_window: 1_000 }, (s) => {
      filled(s);
      s.command({ type: 'Reconfigure', patch: { model: 'other', context_window: 100 } });
      round(s, 88);
      expect(s.facts('CompactionStarted')).toHaveLength(1);
      expect(asked(s).summarise).toBeDefined();
    }));

  it('given a cancel while the summary is written, the run is cancelled and the next one begins with the summary', () =>
    play(KEEP_ONE, (s) => {
      filled(s);
      s.command({ type: 'Cancel', scope: 'run' });
      s.modelEnds({ status: 'cancelled' });
      expect(s.lifecycle()).toBe('Cancelled');
      expect(s.facts('CompactionGaveUp')).toMatchObject([{ code: 'adapter_error/cancelled' }]);
    }));

  it('given a pause while the summary is written, the step waits for the resume', () =>
    play(KEEP_ONE, (s) => {
      filled(s);
      s.command({ type: 'Pause' });
      s.answer();
      expect(s.working(llmGenerate.name)).toEqual([]);
      s.command({ type: 'Resume' });
      expect(asked(s).window.from).toBe(5);
    }));

  it('given answers that are small enough to stay, as many stay as the definition states', () =>
    play({ ...KEEP_ONE, compaction: { at: 85, keep: 2, model: null, ask_ref: refOf(18) } }, (s) => {
      s.input();
      for (const tokens of [30, 65, 80, 86]) round(s, tokens);
      expect(asked(s).summarise?.to).toBe(5); // the last two grew the window by 21 of 100
      s.answer();
      expect(s.state().window.starts).toEqual([
        [5, 0],
        [7, 15], // counted from where the window begins now
      ]);
    }));
});

describe('a command to make room', () => {
  it('given a run, the command Compact takes effect before the next step and is then recorded as applied', () =>
    play({ ...KEEP_ONE, context_window: null }, (s) => {
      s.input();
      round(s, 10);
      expect(s.command({ type: 'Compact' }, { id: 'c' })?.code).toBeUndefined();
      round(s, 20);
      expect(asked(s).summarise?.to).toBe(3);
      s.answer();
      expect(s.facts('HostCommandApplied')).toMatchObject([{ command_id: 'c', type: 'Compact' }]);
    }));

  it('given no run, the command Compact takes effect before the first step of the next run', () =>
    play({ ...KEEP_ONE, context_window: null }, (s) => {
      for (let n = 0; n < 2; n++) {
        s.input();
        s.answer();
      }
      s.command({ type: 'Compact' });
      expect(s.working(llmGenerate.name)).toEqual([]);
      s.input();
      expect(asked(s).summarise?.to).toBe(2);
    }));

  it('given nothing to remove, the command Compact is dropped with that reason and the step follows', () =>
    play({ ...KEEP_ONE, context_window: null }, (s) => {
      s.input();
      s.command({ type: 'Compact' }, { id: 'c' });
      s.answer();
      s.input();
      expect(s.facts('CompactionGaveUp')).toMatchObject([{ cause: 'command', code: 'nothing_to_compact' }]);
      expect(s.facts('HostCommandDropped')).toMatchObject([{ command_id: 'c', why: 'compaction_failed' }]);
      expect(asked(s).summarise).toBeUndefined();
    }));

  it.each([
    ['compaction_off', { compaction: null }, 1],
    ['already_compacting', {}, 2],
  ] as const)('a compaction command is refused with %s, and nothing changes', (code, change, times) =>
    play({ ...KEEP_ONE, ...change }, (s) => {
      s.input();
      for (let n = 1; n < times; n++) s.command({ type: 'Compact' });
      const before = s.bytes();
      expect(s.command({ type: 'Compact' })?.code).toBe(code);
      expect(equalBytes(before, s.bytes())).toBe(true);
    }),
  );
});

describe('a model that refuses a step as longer than its window', () => {
  it('a step that a model refused as too long is tried once more behind a summary, in which results are cut [MOD-23]', () =>
    play(KEEP_ONE, (s) => {
      s.input();
      for (const tokens of [30, 60]) round(s, tokens);
      const step = s.state().run?.tally.steps;
      windowFails(s);
      expect(asked(s).summarise).toEqual({ to: 3, ask_ref: refOf(18), head: 2_048 });
      s.answer();
      expect(asked(s).window.from).toBe(3);
      s.answer();
      expect(s.stop()).toEqual({ kind: 'Completed' });
      expect(s.state().last?.tally.steps).toBe((step ?? 0) + 1);
    }));

  it.each([
    ['fail', 'Failed'],
    ['pause_and_ask', 'WaitingInput: limit'],
  ] as const)('given that it refuses again and limits that %s, the run is %s [MOD-23]', (on_limit, lifecycle) =>
    play({ ...KEEP_ONE, limits: { on_limit } }, (s) => {
      s.input();
      for (const tokens of [30, 60]) round(s, tokens);
      windowFails(s);
      s.answer();
      windowFails(s);
      expect(s.lifecycle()).toBe(lifecycle);
      if (on_limit === 'fail') expect(s.stop()).toMatchObject({ kind: 'Failed', code: LIMIT });
      else {
        s.command({ type: 'Reconfigure', patch: { model: 'other', context_window: 1_000 } });
        expect([s.lifecycle(), asked(s).model]).toEqual(['Running', 'other']);
      }
    }),
  );

  it('given a refused step and no summary, the run fails and does not try again', () =>
    play(KEEP_ONE, (s) => {
      s.input();
      for (const tokens of [30, 60]) round(s, tokens);
      windowFails(s);
      s.modelEnds({ status: 'error', code: 'provider_error_terminal/auth', retryable: false });
      expect(s.stop()).toMatchObject({ kind: 'Failed', code: LIMIT });
    }));

  it('given an answer since the last refusal, a later refusal leads to another summary', () =>
    play(KEEP_ONE, (s) => {
      s.input();
      for (const tokens of [30, 60]) round(s, tokens);
      windowFails(s);
      s.answer();
      for (const tokens of [30, 60]) round(s, tokens);
      windowFails(s);
      expect(asked(s).summarise?.to).toBe(7);
    }));

  it('given a refused step and nothing to remove, the run fails with the code of the refusal', () =>
    play(KEEP_ONE, (s) => {
      s.input();
      windowFails(s);
      expect(s.stop()).toMatchObject({ kind: 'Failed', code: LIMIT, stage: 'llm_step' });
    }));

  it('given an agent without compaction, a refused step fails the run at once', () =>
    play({ context_window: 100, compaction: null }, (s) => {
      s.input();
      for (const tokens of [30, 60]) round(s, tokens);
      windowFails(s);
      expect(s.stop()).toMatchObject({ kind: 'Failed', code: LIMIT });
      expect(s.facts('LlmStepRequested')).toHaveLength(3);
    }));
});

function blank() {
  const receipt = {
    output_ref: refOf(5),
    raw_output_ref: refOf(6),
    request_digest: '0'.repeat(64),
    request_bytes: 4,
    finish_reason: 'stop',
    tool_calls: [],
    blank: true,
  };
  return { status: 'ok' as const, payload: receipt, asked: { profile: 'test', model: 'test' } };
}
