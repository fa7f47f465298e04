/** Texts of models on the page. */
import { describe, expect, it } from 'vitest';
import { inOrder } from '../page/in-order.js';

describe('a text of a model on the page', () => {
  it('a mark that would turn the direction of other words is shown by its number, and letters of all scripts stay', () => {
    expect(inOrder('pay \u202etxt.exe\u202c \u2067a\u2069')).toBe('pay ‹U+202E›txt.exe‹U+202C› ‹U+2067›a‹U+2069›');
    expect(inOrder('שלום, سلام\u200f, 日本')).toBe('שלום, سلام\u200f, 日本');
  });
});
