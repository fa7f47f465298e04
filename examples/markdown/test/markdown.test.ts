/** The Markdown of a model in parts that do not depend on each other. */
import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { describe, expect, it } from 'vitest';
import { stepOf } from '../../../conformance/part.js';
import { CHUNK_MAX, type Chunk, chunksOf, MARKS_MAX, treeOf } from '../src/markdown.js';

const SEED = 38;

const line = fc.oneof(
  fc.constantFrom(
    '',
    '',
    '# A title',
    '- one',
    '  - inner',
    '1. first',
    '   more',
    '> said',
    '> ```',
    '```ts',
    '```',
    '~~~',
    '````',
    '  ```',
    '    indented',
    '| a | b |',
    '|---|---|',
    '| 1 | 2 |',
    '---',
    '===',
    '[b]: http://c',
    '[a][b]',
    '<!--',
    '-->',
    '<div>',
    '\\',
  ),
  fc.string({ maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, '')),
);
const text = fc.array(line, { maxLength: 24 }).map((lines) => lines.join('\n'));

/** The words of a tree in their order. */
const words = (node: Nodes): string =>
  'value' in node ? node.value : 'children' in node ? node.children.map((one) => words(one)).join('\n') : '';

describe('a text in chunks', () => {
  it(`every character of a text but empty lines is in one chunk, at its place, whatever the text (seed ${SEED})`, () => {
    fc.assert(
      fc.property(text, (whole) => {
        let end = 0;
        for (const { raw, from } of chunksOf(whole)) {
          expect(whole.slice(end, from).trim()).toBe('');
          expect(whole.slice(from, from + raw.length)).toBe(raw);
          end = from + raw.length;
        }
        expect(whole.slice(end).trim()).toBe('');
      }),
      { seed: SEED, numRuns: 1_000 / stepOf(4) },
    );
  });

  it(`a text that grows by lines changes its last chunk only (seed ${SEED})`, () => {
    fc.assert(
      fc.property(text, text, (before, more) => {
        const [old, now] = [chunksOf(`${before}\n`), chunksOf(`${before}\n${more}`)];
        expect(now.slice(0, Math.max(0, old.length - 1))).toEqual(old.slice(0, -1));
      }),
      { seed: SEED, numRuns: 1_000 / stepOf(4) },
    );
  });

  it(`a law that takes the last chunk for final is refuted (seed ${SEED})`, () => {
    const grows = fc.property(text, text, (before, more) => {
      const old = chunksOf(`${before}\n`);
      expect(chunksOf(`${before}\n${more}`).slice(0, old.length)).toEqual(old);
    });
    expect(fc.check(grows, { seed: SEED, numRuns: 1_000 }).failed).toBe(true);
  });
});

describe('the tree of a chunk', () => {
  const tree = (source: string) => chunksOf(source).flatMap((chunk: Chunk) => treeOf(chunk) ?? []);

  it('a block of code holds every line, with empty lines, other fences and without an end', () => {
    const code = 'a\n\n# b\n~~~\n  c';
    expect(tree(`Say:\n\`\`\`\`ts x\n${code}\n\`\`\`\n\`\`\`\`\nafter`)).toMatchObject([
      { type: 'paragraph' },
      { type: 'code', lang: 'ts', value: `${code}\n\`\`\`` },
      { type: 'paragraph' },
    ]);
    expect(tree(`\`\`\`\n${code}`)).toMatchObject([{ type: 'code', lang: null, value: code }]);
    expect(tree('  ```\n   a\n b\n  ```')).toMatchObject([{ type: 'code', value: ' a\nb' }]);
  });

  it('code in an item of a list belongs to the item, with its empty lines', () => {
    const [list, ...others] = tree('1. Do:\n   ```sh\n   a\n\n   b\n   ```\n2. Done');
    expect(others).toEqual([]);
    expect(list).toMatchObject({ type: 'list', children: [{ children: [{}, { type: 'code', value: 'a\n\nb' }] }, {}] });
  });

  it('a text that would keep the parser busy for seconds is shown as it was written', () => {
    for (const one of ['> ', '- ', '* > ', '1. ']) {
      const [chunk] = chunksOf(`${one.repeat(20_000)}x`);
      expect(chunk && treeOf(chunk), one).toBeUndefined();
    }
    for (const one of ['*a ', '[', '![a](', '_a **b ', '| a ']) {
      const [chunk] = chunksOf(one.repeat(CHUNK_MAX + 1));
      expect(chunk && treeOf(chunk), one).toBeUndefined();
    }
    expect(tree(`${'> '.repeat(MARKS_MAX)}deep`).map(words)).toEqual(['deep']);
  });

  it('10,000 lines of code are one value, and are not parsed', () => {
    const code = '[*_<'.repeat(10).concat('\n').repeat(10_000);
    expect(tree(`\`\`\`\n${code}\`\`\``)).toEqual([{ type: 'code', lang: null, value: code.slice(0, -1) }]);
  });
});
