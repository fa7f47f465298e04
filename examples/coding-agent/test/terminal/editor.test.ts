/** What a person types: keys from bytes, and the editor beside a simple model. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Editor, edit, editorWith } from '../../src/terminal/input/editor.js';
import { DECODING, decode, type Input, settle } from '../../src/terminal/input/keys.js';
import { layout, shownRow } from '../../src/terminal/input/layout.js';
import { textOf } from '../../src/terminal/text/spans.js';
import { graphemesOf, widthOf } from '../../src/terminal/text/width.js';
import { hold, hostileLines, SEEDED } from './hold.js';

const FILE = 'editor.test.ts';
const key = (name: string, held: Partial<Input> = {}): Input => ({ kind: 'key', name, ...held }) as Input;

/** Decodes reads, the last one settled. */
function decoded(...reads: readonly string[]): readonly Input[] {
  let decoding = DECODING;
  const inputs: Input[] = [];
  for (const read of reads) {
    const next = decode(decoding, read);
    decoding = next.decoding;
    inputs.push(...next.inputs);
  }
  return [...inputs, ...settle(decoding).inputs];
}

describe('keys', () => {
  it('a terminal sends keys in several forms, and each is the same key', () => {
    expect(decoded('\u001b[A')).toEqual([key('up')]);
    expect(decoded('\u001bOA')).toEqual([key('up')]);
    expect(decoded('\u001b[1;5C')).toEqual([key('right', { ctrl: true })]);
    expect(decoded('\u001bb')).toEqual([key('b', { alt: true })]);
    for (const shiftEnter of ['\u001b[13;2u', '\u001b[27;2;13~'])
      expect(decoded(shiftEnter)).toEqual([key('enter', { shift: true })]);
    expect(decoded('\u001b\r')).toEqual([key('enter', { alt: true })]);
    expect(decoded('\n')).toEqual([key('j', { ctrl: true })]);
    expect(decoded('\u001b[99;5u')).toEqual([key('c', { ctrl: true })]);
    expect(decoded('\u001b')).toEqual([key('escape')]);
    expect(decoded('y')).toEqual([{ kind: 'text', text: 'y' }]);
    expect(decoded('👨‍👩‍👧')).toEqual([{ kind: 'text', text: '👨‍👩‍👧' }]);
  });

  it('what a terminal reports by itself is no key and no text: the mouse, colors, its name, keys that are let go', () => {
    const reports = [
      ...['\u001b[<0;10;10M', '\u001b[<0;10;10m', '\u001b[M !!', '\u001b[35;10;10M', '\u001b[13;1:3u', '\u001b[1;1R'],
      ...[
        '\u001b]11;rgb:00/00/00\u001b\\',
        '\u001b]10;y\r\u0007',
        '\u001bP>|xterm(1)\u001b\\',
        '\u001b_Gi=1;OK\u001b\\',
      ],
      ...[
        '\u001b[?1;2c',
        '\u001b[>0;1;0c',
        '\u001b[?2026;2$y',
        '\u001b[?0u',
        '\u001b[I',
        '\u001b[O',
        '\u001b[8;24;80t',
      ],
    ];
    for (const report of reports) {
      expect(decoded(report), JSON.stringify(report)).toEqual([]);
      expect(decoded(`${report}\u001b[A`), JSON.stringify(report)).toEqual([key('up')]);
      for (let cut = 2; cut < report.length; cut++)
        expect(decoded(report.slice(0, cut), report.slice(cut)), `${JSON.stringify(report)} cut at ${cut}`).toEqual([]);
    }
    expect(decoded('\u001b]')).toEqual([]); // Alt-], and no Esc
    expect(decoded('\u001bOM')).toEqual([key('enter')]);
    expect(decoded('\u001b]11;rgb', '\u001b[A')).toEqual([key('up')]);
  });

  it('several characters in one read are a paste, and an Enter at their end may send them; one and Enter are keys', () => {
    expect(decoded('yes\r')).toEqual([{ kind: 'paste', text: 'yes' }, key('enter')]);
    expect(decoded('y\r')).toEqual([{ kind: 'text', text: 'y' }, key('enter')]);
    expect(decoded('\ry\r')).toEqual([{ kind: 'paste', text: '\ny\n' }]);
    expect(decoded('a\ry\r')).toEqual([{ kind: 'paste', text: 'a\ny\n' }]);
    expect(decoded('\u001b[200~y\r\n\u001b[201~')).toEqual([{ kind: 'paste', text: 'y\n' }]);
  });

  it(`a bracketed paste is one input, wherever reads cut it, ${SEEDED}`, () => {
    const pasted = hostileLines.filter((text) => !text.includes('\u001b[201~') && !text.endsWith('\u001b'));
    hold(
      fc.property(pasted, fc.array(fc.nat(60), { maxLength: 6 }), (text, cuts) => {
        const whole = `\u001b[200~${text}\u001b[201~`;
        const places = [...new Set(cuts.map((cut) => Math.min(cut, whole.length)))].sort((a, b) => a - b);
        const reads = [0, ...places].map((from, i) => whole.slice(from, places[i] ?? whole.length));
        const inputs = decoded(...reads.filter((read) => read !== '')).filter(({ kind }) => kind === 'paste');
        expect(inputs).toEqual([{ kind: 'paste', text: text.replace(/\r\n?/g, '\n') }]);
      }),
      FILE,
    );
  });

  it(`no bytes make the decoder of keys fail or loop, ${SEEDED}`, () => {
    hold(
      fc.property(fc.array(hostileLines, { maxLength: 4 }), (reads) => void decoded(...reads)),
      FILE,
    );
  });
});

/** The editor as an array of clusters and an index. */
class Model {
  clusters: string[] = [];
  at = 0;

  apply(name: string, text = ''): void {
    if (name === 'text') this.clusters.splice(this.at++, 0, text);
    if (name === 'left') this.at = Math.max(0, this.at - 1);
    if (name === 'right') this.at = Math.min(this.clusters.length, this.at + 1);
    if (name === 'home') while (this.at > 0 && this.clusters[this.at - 1] !== '\n') this.at--;
    if (name === 'end') while (this.at < this.clusters.length && this.clusters[this.at] !== '\n') this.at++;
    if (name === 'backspace' && this.at > 0) this.clusters.splice(--this.at, 1);
    if (name === 'delete') this.clusters.splice(this.at, 1);
  }
}

/** Clusters that do not join with their neighbors. */
const cluster = fc.constantFrom('a', 'b', ' ', '\n', '日', '👨‍👩‍👧', 'e\u0301', '👍🏽', '.', '한');
const move = fc.constantFrom('left', 'right', 'home', 'end', 'backspace', 'delete');

describe('the editor', () => {
  it(`an editor does what a list of clusters with an index does, ${SEEDED}`, () => {
    hold(
      fc.property(
        fc.array(
          fc.oneof(
            cluster.map((text) => ({ text })),
            move.map((name) => ({ name })),
          ),
          { maxLength: 60 },
        ),
        (steps) => {
          const model = new Model();
          let editor: Editor = editorWith([]);
          for (const step of steps) {
            if ('text' in step) {
              model.apply('text', step.text);
              editor = edit(editor, { kind: 'paste', text: step.text }, 20).editor;
            } else {
              model.apply(step.name);
              editor = edit(editor, key(step.name), 20).editor;
            }
            expect(editor.text).toBe(model.clusters.join(''));
            expect(editor.cursor).toBe(model.clusters.slice(0, model.at).join('').length);
          }
        },
      ),
      FILE,
    );
  });

  it(`the cursor of an editor stands between clusters and on a row, and no row reaches the last column, ${SEEDED}`, () => {
    const names = ['left', 'right', 'up', 'down', 'home', 'end', 'backspace', 'delete'];
    const keys = fc.oneof(
      fc.constantFrom(...names).map((name) => key(name)),
      fc.constantFrom('w', 'u', 'k', 'y', 'p').map((name) => key(name, { ctrl: true } as never)),
      fc.constantFrom('b', 'f', 'd').map((name) => key(name, { alt: true } as never)),
      hostileLines.map((text): Input => ({ kind: 'paste', text: text.replaceAll('\r', '') })),
    );
    hold(
      fc.property(fc.array(keys, { maxLength: 30 }), fc.integer({ min: 4, max: 30 }), (inputs, columns) => {
        let editor: Editor = editorWith(['one', 'two\nlines']);
        for (const input of inputs) {
          editor = edit(editor, input, columns).editor;
          const places = new Set([0]);
          let end = 0;
          for (const line of editor.text.split('\n')) {
            for (const grapheme of graphemesOf(line)) {
              end += grapheme.length;
              places.add(end);
            }
            end += 1;
            places.add(end);
          }
          expect(places.has(editor.cursor)).toBe(true);
          const { rows, row, column } = layout(editor.text, editor.cursor, columns);
          expect(row).toBeLessThan(rows.length);
          expect(column).toBeLessThan(columns);
          for (const laid of rows) expect(widthOf(textOf(shownRow(laid)))).toBeLessThan(columns);
        }
      }),
      FILE,
    );
  });

  it('Shift-Enter, Alt-Enter, Ctrl-J and a trailing backslash begin another line, and Enter submits', () => {
    let editor = edit(editorWith([]), { kind: 'text', text: 'a' }, 80).editor;
    for (const newline of [
      key('enter', { shift: true } as never),
      key('enter', { alt: true } as never),
      key('j', { ctrl: true } as never),
    ])
      editor = edit(editor, newline, 80).editor;
    editor = edit(editor, { kind: 'text', text: '\\' }, 80).editor;
    editor = edit(editor, key('enter'), 80).editor;
    expect(editor.text).toBe('a\n\n\n\n');
    expect(edit(editor, key('enter'), 80).effect).toBe('submit');
  });

  it('the history is walked from the draft and back to it', () => {
    let editor = editorWith(['first', 'second']);
    editor = edit(editor, { kind: 'text', text: 'd' }, 80).editor;
    const seen = ['up', 'up', 'up', 'down', 'down'].map((name) => {
      editor = edit(editor, key(name), 80).editor;
      return editor.text;
    });
    expect(seen).toEqual(['second', 'first', 'first', 'second', 'd']);
  });
});
