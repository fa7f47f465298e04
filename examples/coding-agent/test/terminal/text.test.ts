/** Texts on a terminal: what is shown, and how wide it is. */
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../../scripts/lib/cpu.js';
import { wholeCall } from '../../src/terminal/calls.js';
import { difference } from '../../src/terminal/diff.js';
import { paintFor } from '../../src/terminal/text/paint.js';
import { outputLines, plain } from '../../src/terminal/text/plain.js';
import { painted, span, textOf, wrapped } from '../../src/terminal/text/spans.js';
import { visible, visibleInLine } from '../../src/terminal/text/visible.js';
import { fitting, widthOf } from '../../src/terminal/text/width.js';
import { hold, hostileLines, hostileText, refutes, SEEDED } from './hold.js';

const FILE = 'text.test.ts';
/** What must not be printed: control characters, separators, marks of direction, characters without width, half pairs. */
const EXECUTED = /\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\ufeff]|\p{Cs}/u;

describe('a text on a terminal', () => {
  it(`no row is wider than its columns, and a hard break loses no character, ${SEEDED}`, () => {
    hold(
      fc.property(hostileText, fc.integer({ min: 4, max: 40 }), fc.boolean(), (text, columns, words) => {
        const line = visibleInLine(text);
        const rows = wrapped(line, columns, { words, indent: [span('  ')] });
        for (const row of rows) expect(widthOf(textOf(row))).toBeLessThanOrEqual(columns);
        if (!words) expect(wrapped(line, columns).map(textOf).join('')).toBe(textOf(line));
      }),
      FILE,
    );
  });

  it(`a break by code units is found by that law, ${SEEDED}`, () => {
    const cut = (text: string, columns: number) => text.match(new RegExp(`[\\s\\S]{1,${columns}}`, 'g')) ?? [''];
    expect(
      refutes(
        fc.property(hostileText, fc.integer({ min: 4, max: 40 }), (text, columns) => {
          for (const row of cut(textOf(visibleInLine(text)), columns))
            expect(widthOf(row)).toBeLessThanOrEqual(columns);
        }),
      ),
    ).toBe(true);
  });

  it(`a shown text has no character that a terminal would execute, hide or reorder, ${SEEDED}`, () => {
    hold(
      fc.property(hostileLines, (text) => {
        for (const line of visible(text).lines) expect(textOf(line)).not.toMatch(EXECUTED);
        for (const line of outputLines(text)) expect(textOf(line)).not.toMatch(EXECUTED);
        expect(plain(text).replaceAll('\n', '')).not.toMatch(EXECUTED);
        for (const line of difference(text, `${text}x`).lines) expect(textOf(line)).not.toMatch(EXECUTED);
      }),
      FILE,
    );
  });

  it(`two texts that differ are shown differently, or say which characters are hidden, ${SEEDED}`, () => {
    hold(
      fc.property(hostileText, hostileText, (a, b) => {
        fc.pre(a !== b && !/[\t\n]/.test(a + b));
        const shown = [a, b].map((text) => JSON.stringify([visible(text).lines.map(textOf), visible(text).hidden]));
        expect(shown[0]).not.toBe(shown[1]);
      }),
      FILE,
    );
  });

  it('hidden characters have marks: escape sequences, reversed text, characters without width, odd spaces', () => {
    const shown = (text: string) => textOf(visibleInLine(text));
    expect(shown('ls\u001b[8m; rm -rf ~\u001b[0m')).toBe('ls␛[8m; rm -rf ~␛[0m');
    expect(shown('cp \u202egnp.exe a')).toBe('cp ‹U+202E›gnp.exe a');
    expect(shown('rm a\u200bb\u00a0c')).toBe('rm a‹U+200B›b‹U+00A0›c');
    expect(shown('a\rb')).toBe('a␍b');
    expect(shown('👨‍👩‍👧 日本 é e\u0301')).toBe('👨‍👩‍👧 日本 é e\u0301');
  });

  it('blank symbols have marks, and a long line of tabs is shown at once', async () => {
    expect(visible('a\u2800b\u{1d159}').hidden).toEqual(['‹U+2800›', '‹U+1D159›']);
    expect(textOf(visible('ab\tc\t\u0007\td').lines[0] ?? [])).toBe('ab  c   ␇   d');
    const cost = await cpuMsOf(() => expect(textOf(visible('\t'.repeat(60_000)).lines[0] ?? [])).toHaveLength(240_000));
    expect(cost).toBeLessThan(5_000);
  });

  it('a painted line has no character that a terminal would execute, wherever its text comes from', () => {
    const line = [span('no \u001b[2J\r\u009b1m\u202e'), span('\u001b]0;t\u0007', 'red')];
    expect(painted(line, paintFor(false))).toBe('no \ufffd[2J\ufffd\ufffd1m\ufffd\ufffd]0;t\ufffd');
    expect(painted(line, paintFor(true))).toContain('\u001b[31m\ufffd]0;t\ufffd\u001b[39m');
  });

  it('a call shows a long path to its end, the names of its arguments without effect, and any number of lines', async () => {
    const file = `docs/${'./'.repeat(90)}.github/run.yml`;
    const { lines } = await wholeCall('write_file', { path: file, text: 'x' }, '/nowhere');
    expect(lines.map(textOf)).toContain(`path: ${file}`);
    const odd = await wholeCall('docs.search', { 'a\u001b[2Jb': 1 }, '/nowhere');
    expect(odd.lines.map(textOf)).toEqual(['a␛[2Jb: 1']);
    const both = { command: 'rm -r src', argv: ['ls'] };
    expect((await wholeCall('run_shell', both, '/nowhere')).lines.map(textOf)[0]).toBe('$ rm -r src');
    expect((await wholeCall('run_process', both, '/nowhere')).lines.map(textOf)).toEqual([
      '$ ls',
      'command: rm -r src',
    ]);
    expect(difference('', 'a\n'.repeat(200_000)).added).toBe(200_000);
  });

  it('every character of Latin texts and their punctuation is as wide as Unicode says, alone and in a row', () => {
    const odd = Array.from({ length: 0x2100 }, (_, unit) => String.fromCharCode(unit)).filter(
      (one) => widthOf(one) !== stringWidth(one) || widthOf(`${one}${one}`) !== stringWidth(`${one}${one}`),
    );
    expect(odd).toEqual([]);
  });

  it('widths are those of clusters: a family is two columns, a combining accent none', () => {
    expect(['👨‍👩‍👧', '日本', 'e\u0301', '🇩🇪', '👍🏽', 'a\u200bb'].map(widthOf)).toEqual([2, 4, 1, 2, 2, 2]);
    expect(fitting('👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', 5)).toBe('👨‍👩‍👧👨‍👩‍👧…');
  });

  it('the output of a program is shown without its colors, each line as it stood last', () => {
    expect(outputLines('\u001b[32mok\u001b[0m\n10%\r50%\r100%\ntail').map(textOf)).toEqual(['ok', '100%', 'tail']);
  });
});
