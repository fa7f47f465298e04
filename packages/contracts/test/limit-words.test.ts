import { describe, expect, it } from 'vitest';
import { limitAmount, limitName, limitWords } from '../src/index.js';

describe('the words of a limit', () => {
  it('a limit is named as the option that sets it, and amounts of money stand in dollars', () => {
    expect([limitName('max_micro_money'), limitName('max_steps'), limitName('max_of_others')]).toEqual([
      'limits.usd',
      'limits.steps',
      'max_of_others',
    ]);
    expect([
      limitAmount('max_micro_money', 1_500),
      limitAmount('max_wall_ms', 2_500),
      limitAmount('max_steps', 3),
    ]).toEqual(['$0.0015', '2.5 s', '3']);
  });

  it('a limit in tokens or money says that a call reserves before it is made; other limits do not', () => {
    expect(limitWords('max_micro_money')).toContain('limits.usd: what the next model call may use at most is reserved');
    expect(limitWords('max_tokens')).toContain('reserved');
    expect(limitWords('max_steps')).toBe('limits.steps');
  });
});
