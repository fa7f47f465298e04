import { describe, expect, it } from 'vitest';
import { Choices } from '../../src/simulator/choices.js';
import { shrinkChoices } from '../../src/simulator/shrink.js';

describe('choices', () => {
  it('choices are the same for the same seed and different for another', () => {
    const drawn = (seed: number) => {
      const choices = Choices.from(seed);
      return Array.from({ length: 50 }, () => choices.below(1_000));
    };
    expect(drawn(7)).toEqual(drawn(7));
    expect(drawn(7)).not.toEqual(drawn(8));
  });

  it('listed choices are made in order, then the first option each time, and never beyond the options', () => {
    const choices = Choices.of([2, 9, 1]);
    expect([choices.below(5), choices.below(3), choices.pick(['a', 'b'])]).toEqual([2, 2, 'b']);
    expect(choices.exhausted).toBe(true);
    expect([choices.below(5), choices.once(4), choices.pick(['a', 'b'])]).toEqual([0, false, 'a']);
    expect(choices.made).toEqual([2, 2, 1, 0, 0, 0]);
  });

  it('choices with weights occur in proportion to their weights', () => {
    const choices = Choices.from('weights');
    const list = [
      { name: 'often', weight: 9 },
      { name: 'seldom', weight: 1 },
    ];
    const seldom = Array.from({ length: 2_000 }, () => choices.weighted(list).name).filter((name) => name === 'seldom');
    expect(seldom.length).toBeGreaterThan(120);
    expect(seldom.length).toBeLessThan(280);
  });

  it('a choice among no options is refused', () => {
    expect(() => Choices.of([]).pick([])).toThrow(RangeError);
    expect(() => Choices.of([]).weighted([])).toThrow(RangeError);
  });
});

describe('shrinking', () => {
  /** Steps of two decisions each; it fails when one of them is a three and a later one is a seven. */
  const fails = async (list: readonly number[]) => {
    const steps = list.flatMap((_, i) => (i % 2 === 0 ? [i] : []));
    const first = list.indexOf(3);
    return first >= 0 && list.indexOf(7, first) > first ? { choices: list, steps } : undefined;
  };

  it('shrinking removes every step that does not matter, and simplifies the remaining ones', async () => {
    const made = Array.from({ length: 60 }, (_, i) => (i === 21 ? 3 : i === 44 ? 7 : 1 + (i % 2)));
    const failing = await fails(made);
    expect(failing && (await shrinkChoices(failing, fails)).choices).toEqual([0, 3, 7, 0]);
  });

  it('shrinking returns its input when nothing smaller fails, and stays within its budget', async () => {
    let runs = 0;
    const failing = { choices: [1, 2, 3, 4], steps: [0, 2] };
    const never = async () => {
      runs++;
      return undefined;
    };
    expect(await shrinkChoices(failing, never, { runsMax: 5 })).toBe(failing);
    expect(runs).toBe(5);
  });
});
