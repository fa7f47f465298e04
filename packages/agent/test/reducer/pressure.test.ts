import { describe, expect, it } from 'vitest';
import { pressureOf } from '../../src/reducer/account/limits.js';
import { play, type Scene } from './scene.js';

/** A step that used so many tokens, and asks for another. */
function step(s: Scene, tokens: number, more: object = {}): void {
  s.answer({
    calls: [{ id: 'a', issue: 'tool_not_found' }],
    usage: { calls: 1, tokens_in: tokens, tokens_out: 0, ...more },
  });
}

const levels = (s: Scene, name: string) => s.facts(name).map(({ level }) => level);

describe('pressure on the window of the model', () => {
  it('pressure on the window is reported once for each level on the way up [LIM-9]', () =>
    play({ context_window: 100, compaction: null }, (s) => {
      s.input();
      for (const tokens of [69, 70, 84, 85, 94, 95, 120]) step(s, tokens);
      expect(levels(s, 'ContextPressure')).toEqual([70, 85, 95]);
      expect(s.facts('ContextPressure')[0]).toMatchObject({ tokens: 70, window: 100, by: 'usage' });
    }));

  it('pressure on the window is reported again only after the usage fell five percent below the level [LIM-9]', () =>
    play({ context_window: 100, compaction: null }, (s) => {
      s.input();
      for (const tokens of [86, 81, 86, 79, 86, 60, 86]) step(s, tokens);
      expect(levels(s, 'ContextPressure')).toEqual([85, 85, 85]);
    }));

  it('pressure on the window is measured by the size of the request where the provider counts no tokens', () =>
    play({ context_window: 100, compaction: null }, (s) => {
      s.input();
      s.answer({ usage: { calls: 1 }, bytes: 280 });
      expect(s.facts('ContextPressure')).toMatchObject([{ level: 70, tokens: 70, by: 'bytes' }]);
    }));

  it('pressure on the window is not reported where the window size is unknown', () =>
    play({ context_window: null }, (s) => {
      s.input();
      step(s, 1_000_000);
      expect(levels(s, 'ContextPressure')).toEqual([]);
    }));

  it.each([
    [69, 0, undefined, 0],
    [70, 0, 70, 70],
    [95, 0, 95, 95],
    [90, 95, undefined, 95],
    [89, 95, undefined, 85],
    [64, 70, undefined, 0],
  ])('%i of 100 after a report at %i: reports %s and remembers %i [LIM-9]', (used, told, tell, remembered) => {
    expect(pressureOf([70, 85, 95], used, 100, told)).toEqual(
      tell === undefined ? { told: remembered } : { tell, told: remembered },
    );
  });
});

describe('pressure on the budget', () => {
  it('pressure on the budget is reported at each level, by the nearer of tokens and money [LIM-10]', () =>
    play({ limits: { max_tokens: 100, max_micro_money: 1_000 } }, (s) => {
      s.input();
      for (let n = 0; n < 7; n++) step(s, 10, { micro_money: 0 });
      step(s, 5, { micro_money: 860 });
      for (const tokens of [5, 5, 5, 5]) step(s, tokens, { micro_money: 0 });
      expect(s.facts('BudgetPressure')).toMatchObject([
        { level: 70, limit: 'max_tokens', used: 70, of: 100 },
        { level: 80, limit: 'max_micro_money', used: 860, of: 1_000 },
        { level: 95, limit: 'max_tokens', used: 95, of: 100 },
      ]);
    }));

  it('pressure on the budget is reported once for each level', () =>
    play({ limits: { max_tokens: 100 } }, (s) => {
      s.input();
      for (const tokens of [10, 10, 10, 10, 10, 10, 10, 1, 1]) step(s, tokens);
      expect(levels(s, 'BudgetPressure')).toEqual([70]);
    }));
});
