/** Printing for people. */
import { print, printError } from 'reprise/terminal';
import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => void vi.restoreAllMocks());

/** What reaches the console when a program prints. */
function printed(stream: 'log' | 'error', work: () => void): readonly unknown[][] {
  const spy = vi.spyOn(console, stream).mockImplementation(() => undefined);
  work();
  return spy.mock.calls;
}

describe('printing', () => {
  it('texts are printed as they are, except for what a terminal would execute', () => {
    const text = 'One\n\ttwo \u001b]0;title\u0007\u202e 日本';
    expect(printed('log', () => print(text, 5))).toEqual([['One\n\ttwo \\u001b]0;title\\u0007\\u202e 日本 5']]);
    expect(printed('error', () => printError('\r'))).toEqual([['\\r']]);
  });

  it('objects are printed as inspect shows them, with their texts escaped', () => {
    expect(printed('log', () => print({ a: '\u202e\u009b' }, new Map([['b', 1]])))).toEqual([
      ["{ a: '\\u202e\\x9B' } Map(1) { 'b' => 1 }"],
    ]);
  });

  it('a text of a model is no format for the values behind it', () => {
    expect(printed('log', () => print('100 %s %j', 'x'))).toEqual([['100 %s %j x']]);
  });
});
