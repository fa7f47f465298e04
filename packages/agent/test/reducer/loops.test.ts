import { describe, expect, it } from 'vitest';
import type { LoopPolicy } from '../../src/contracts/index.js';
import { refOf } from '../histories/content.js';
import { outputOf, play, type Scene } from './scene.js';

const LOOP: LoopPolicy = { window: 32, repeats: 3, blind_repeats: 4, actions: ['fail'], steer_ref: refOf(15) };

/** One step in which the model makes calls, each of which gives a result. */
function step(s: Scene, calls: readonly { args: number; result?: number; polling?: boolean }[]): void {
  s.answer({ calls: calls.map(({ args, polling = false }, i) => ({ id: `k${i}`, args_ref: refOf(args), polling })) });
  for (const [i, { result = 7 }] of calls.entries()) s.toolEnds(`k${i}`, { status: 'ok', payload: outputOf(result) });
}

/** Takes steps until a loop is found. @returns how many there were */
function stepsUntilLoop(s: Scene, make: (n: number) => Parameters<typeof step>[1], max = 40): number {
  s.input();
  for (let n = 0; n < max; n++) {
    step(s, make(n));
    if (s.facts('LoopDetected').length > 0) return n + 1;
  }
  return 0;
}

describe('a loop', () => {
  it.each([1, 2, 3, 4, 5, 6, 7])(
    'a loop of length %i is found at the end of its third round [LIM-6, LIM-8]',
    (length) =>
      play({ loop: LOOP }, (s) => {
        expect(stepsUntilLoop(s, (n) => [{ args: n % length }])).toBe(3 * length);
        expect(s.facts('LoopDetected')).toMatchObject([
          { length, repeats: 3, by: 'calls_and_results', action: 'fail' },
        ]);
        expect(s.stop()).toEqual({
          kind: 'Failed',
          code: 'validation_error/loop_detected',
          retryable: false,
          stage: 'loop',
        });
      }),
  );

  it('a loop with different results each time is found later, by its calls alone [LIM-6]', () =>
    play({ loop: LOOP }, (s) => {
      expect(stepsUntilLoop(s, (n) => [{ args: n % 2, result: n }])).toBe(8);
      expect(s.facts('LoopDetected')).toMatchObject([{ length: 2, repeats: 4, by: 'calls' }]);
    }));

  it('a loop is found whatever the order of the calls in a step [LIM-6]', () =>
    play({ loop: LOOP }, (s) => {
      const pair = [{ args: 1 }, { args: 2 }];
      expect(stepsUntilLoop(s, (n) => (n % 2 === 0 ? pair : [...pair].reverse()))).toBe(3);
    }));

  it('calls of polling tools are not a loop [LIM-7]', () =>
    play({ loop: LOOP }, (s) => {
      expect(stepsUntilLoop(s, () => [{ args: 1, polling: true }], 12)).toBe(0);
    }));

  it('different calls are not a loop', () =>
    play({ loop: LOOP }, (s) => {
      expect(stepsUntilLoop(s, (n) => [{ args: n }], 20)).toBe(0);
    }));

  it('without a policy no loop is found', () =>
    play({ loop: null }, (s) => {
      expect(stepsUntilLoop(s, () => [{ args: 1 }], 12)).toBe(0);
    }));

  it('a loop is steered against, then ends the run with a warning: one action after the other, each after new rounds [LIM-8]', () =>
    play({ loop: { ...LOOP, actions: ['steer', 'complete_with_warning'] } }, (s) => {
      expect(stepsUntilLoop(s, () => [{ args: 1 }])).toBe(3);
      expect(s.transcript().at(-1)).toBe('loop: t15');
      expect(s.lifecycle()).toBe('Running');
      for (let n = 0; n < 2; n++) step(s, [{ args: 1 }]);
      expect(s.facts('LoopDetected')).toHaveLength(1);
      step(s, [{ args: 1 }]);
      expect(s.facts('LoopDetected').map(({ action }) => action)).toEqual(['steer', 'complete_with_warning']);
      expect(s.stop()).toEqual({ kind: 'Completed', warning: 'loop_detected' });
    }));

  it('calls that fail by different codes are not a loop by their results', () =>
    play({ loop: { ...LOOP, blind_repeats: 9 } }, (s) => {
      s.input();
      for (let n = 0; n < 6; n++) {
        s.answer({ calls: [{ id: 'a' }] });
        s.toolEnds('a', { status: 'error', code: `adapter_error/e${n}`, retryable: false });
      }
      expect(s.facts('LoopDetected')).toEqual([]);
    }));

  it('the message against a loop does not count as a turn, since no person sent it', () =>
    play({ loop: { ...LOOP, actions: ['steer'] } }, (s) => {
      expect(stepsUntilLoop(s, () => [{ args: 1 }])).toBe(3);
      expect(s.facts('TurnStarted')).toMatchObject([
        { origin: 'input', turn: 1 },
        { origin: 'loop', turn: 1 },
      ]);
    }));
});
