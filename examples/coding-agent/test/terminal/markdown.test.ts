/** Answers as they are shown: Markdown for a terminal, while it arrives. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarkdownStream, markdown } from '../../src/terminal/markdown.js';
import { openPager, resized, rowsOf, screenOf, seenRows, turn } from '../../src/terminal/pager.js';
import { span, textOf } from '../../src/terminal/text/spans.js';
import { widthOf } from '../../src/terminal/text/width.js';
import { hold, hostileText, refutes, SEEDED } from './hold.js';

const FILE = 'markdown.test.ts';
const lines = (text: string, columns = 60) => markdown(text, columns).map(textOf);

const fragment = fc.oneof(
  fc.constantFrom(
    '# A title',
    '## Another',
    '- one',
    '- two',
    '  - inner',
    '* star',
    '1. first',
    '2) second',
    '- [ ] open',
    '- [x] done',
    '> said',
    '```ts',
    '```',
    '    indented',
    '| a | b |',
    '|---|---|',
    '| 1 | 2 |',
    '---',
    '===',
    '**bold** and *it*',
    '[a](http://b)',
    '[a][b]',
    '[b]: http://c',
    '`code`',
    '',
    '',
    'plain text here',
    '<div>',
    '</div>',
    '\\',
    '**open',
    '| |',
    '-',
    '*',
  ),
  hostileText,
);
const document = fc.array(fragment, { maxLength: 14 }).map((parts) => parts.join('\n'));

describe('an answer', () => {
  it(`the rows of an answer do not depend on how the answer was cut into pieces, ${SEEDED}`, () => {
    hold(
      fc.property(
        document,
        fc.array(fc.nat(200), { maxLength: 8 }),
        fc.integer({ min: 8, max: 60 }),
        (text, cuts, columns) => {
          const stream = new MarkdownStream();
          const places = cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b);
          const rows = [0, ...places].flatMap((from, i) => {
            stream.push(text.slice(from, places[i] ?? text.length));
            return stream.take(columns);
          });
          expect([...rows, ...stream.end(columns)].map(textOf)).toEqual(lines(text, columns));
        },
      ),
      FILE,
      2_000,
    );
  });

  it(`no row of an answer is wider than the screen, and nothing that a terminal would execute is left, ${SEEDED}`, () => {
    hold(
      fc.property(document, fc.integer({ min: 8, max: 60 }), (text, columns) => {
        for (const row of lines(text, columns)) {
          expect(widthOf(row)).toBeLessThanOrEqual(columns);
          expect(row).not.toMatch(/\p{Cc}|[\u202a-\u202e\u2066-\u2069\u200b]/u);
        }
      }),
      FILE,
      1_000,
    );
  });

  it(`a stream that gives out its last block is found by the law of pieces, ${SEEDED}`, () => {
    expect(
      refutes(
        fc.property(document, fc.nat(100), (text, cut) => {
          const rows = [text.slice(0, cut), text.slice(cut)].flatMap((piece) => lines(piece));
          expect(rows).toEqual(lines(text));
        }),
      ),
    ).toBe(true);
  });

  it('headings, lists, code, quotes, links and tables of an answer are readable', () => {
    const text =
      '# Result\nIt **works**, see `a.ts` and [the docs](https://example.org).\n\n- one\n  - two\n- [x] done\n\n3. third\n\n> quoted\n\n```ts\nconst a = 1;\n```\n\n| file | lines |\n|---|---:|\n| a.ts | 1 |\n';
    expect(lines(text)).toEqual([
      '# Result',
      '',
      'It works, see a.ts and the docs (https://example.org).',
      '',
      '• one',
      '  • two',
      '• ☑ done',
      '',
      '3. third',
      '',
      '│ quoted',
      '',
      '  ts',
      '  const a = 1;',
      '',
      'file │ lines',
      '─────┼──────',
      'a.ts │ 1',
    ]);
  });

  it('an answer that is nested very deeply is shown, and no row is wider than the screen', () => {
    for (const one of ['> ', '- ', '* > ', '1. ']) {
      for (const times of [20, 60, 3_000]) {
        const rows = lines(`${one.repeat(times)}x\n\nafter`, 40);
        expect(Math.max(...rows.map(widthOf)), `${one} ${times}`).toBeLessThanOrEqual(40);
        expect(rows.at(-1)).toBe('after');
      }
    }
    for (const one of ['*a ', '_a **b ', '[', '~~a ', '![a]('])
      expect(lines(one.repeat(2_000)).length).toBeGreaterThan(1);
  });

  it('a wide table is broken inside its cells, and one that cannot fit is shown as it was written', () => {
    const table = '| name | what it does |\n|---|---|\n| alpha | it explains at length what happens |\n';
    expect(lines(table, 24)).toEqual(
      [
        'name  │ what it does',
        '──────┼─────────────────',
        'alpha │ it explains at',
        '      │ length what',
        '      │ happens',
      ].map((row) => row.replace('──────┼─────────────────', `${'─'.repeat(5)}─┼─${'─'.repeat(16)}`)),
    );
    expect(
      lines(
        '| a | b | c | d | e |\n|-|-|-|-|-|\n| looooooong | looooooong | looooooong | looooooong | looooooong |',
        20,
      )[0],
    ).toContain('| a | b');
  });
});

describe('a page', () => {
  const pager = openPager({
    title: 'a title',
    lines: Array.from({ length: 50 }, (_, i) => [span(`line ${i}`)]),
    columns: 20,
    height: 10,
    atEnd: 'q goes back',
  });
  const press = (from: typeof pager, ...keys: readonly string[]) =>
    keys.reduce(
      (state, name) => turn(state, name.length === 1 ? { kind: 'text', text: name } : { kind: 'key', name }) ?? state,
      from,
    );

  it('a page is turned by keys and closed by q, and a paste does nothing to it', () => {
    expect(press(pager, ' ').top).toBe(8);
    expect(press(pager, 'G').top).toBe(41);
    expect(press(pager, 'G', 'pageup', 'up', 'g').top).toBe(0);
    expect(turn(pager, { kind: 'text', text: 'q' })).toBeUndefined();
    expect(turn(pager, { kind: 'paste', text: 'G' })).toBe(pager);
    expect(seenRows(pager)).toBe(9);
    expect(seenRows(press(pager, 'G'))).toBe(50);
    expect(textOf(screenOf(press(pager, 'G')).at(-1) ?? [])).toContain('END');
  });

  it(`a page fills the screen exactly, whatever the text, the keys and the size, ${SEEDED}`, () => {
    const key = fc.constantFrom(' ', 'b', 'j', 'k', 'g', 'G', 'pagedown', 'pageup');
    hold(
      fc.property(
        fc.array(hostileText, { maxLength: 30 }),
        fc.array(key, { maxLength: 12 }),
        fc.integer({ min: 8, max: 60 }),
        fc.integer({ min: 3, max: 20 }),
        (texts, keys, columns, height) => {
          const text = texts.map((one) => [span(one.replaceAll(/\p{Cc}/gu, ''))]);
          const shown = press(
            resized(openPager({ title: 't', lines: text, columns: 40, height: 12, atEnd: '' }), columns, height),
            ...keys,
          );
          const screen = screenOf(shown);
          expect(screen).toHaveLength(height);
          for (const row of screen) expect(widthOf(textOf(row))).toBeLessThanOrEqual(columns);
          expect(shown.top).toBeLessThanOrEqual(Math.max(0, rowsOf(shown).length - 1));
        },
      ),
      FILE,
    );
  });
});
