import { describe, expect, it } from 'vitest';
import { after, rescued } from '../../../src/ports/time/maybe-promise.js';

const thrower = (): never => {
  throw new Error('no');
};

describe('a value that may come later', () => {
  it('what is known is gone on with at once, and what was promised when it is there', async () => {
    expect(after(2, (n) => n + 1)).toBe(3);
    const later = after(Promise.resolve(2), (n) => n + 1);
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toBe(3);
  });

  it('an error is rescued whether it is thrown or rejected', async () => {
    expect(rescued(thrower, (error) => String(error))).toBe('Error: no');
    expect(
      await rescued(
        async () => thrower(),
        (error) => String(error),
      ),
    ).toBe('Error: no');
  });

  it('an error in what goes on is that of the whole', async () => {
    expect(() => after(1, thrower)).toThrow('no');
    await expect(after(Promise.resolve(1), thrower)).rejects.toThrow('no');
  });

  it('an error of the rescue is not rescued again', async () => {
    const again = (): never => {
      throw new Error('again');
    };
    expect(() => rescued(thrower, again)).toThrow('again');
    await expect(rescued(async () => thrower(), again)).rejects.toThrow('again');
  });
});
