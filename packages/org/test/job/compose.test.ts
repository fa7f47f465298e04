/** Texts for models, composed from content: bounds, views, and words of others that cannot leave their marks. */

import { putText } from '@reprise/agent';
import type { Ref } from '@reprise/contracts';
import { memory, type OpenStore, putValue } from '@reprise/kernel';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { composeAdapter } from '../../src/adapters/compose.js';
import { layOut } from '../../src/adapters/lay-out.js';
import { type ComposedItem, type ComposedSection, composeText } from '../../src/index.js';
import { told, toldItem } from '../../src/pure/job/index.js';

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
let content: OpenStore['content'];

beforeEach(async () => {
  ({ content } = await memory().open());
});

const data = (ref: Ref, more: Partial<ComposedItem> = {}): ComposedItem => ({
  label: '#2 result',
  ref,
  kind: 'text',
  view: 'full',
  ...more,
});

const section = (...items: ComposedItem[]): ComposedSection[] => [{ title: 'Results', items }];

describe('composed texts', () => {
  it('words of the owner stand as they are, and what others wrote stands between marks with its label [WORK-10]', async () => {
    const result = await putText(content, 'It works.');
    const words: ComposedItem = { label: 'Task', text: 'Write the report.', kind: 'text', view: 'full' };
    expect(await composeText(content, section(words, data(result)), 1_000)).toBe(
      '## Results\n\nTask: Write the report.\n\n<said by="#2 result">\nIt works.\n</said>',
    );
  });

  it('a task that the owner gives by link stands without marks', async () => {
    const task = await putText(content, 'Read <said> files.');
    expect(await composeText(content, section(data(task, { own: true, label: '' })), 1_000)).toBe(
      '## Results\n\nRead <said> files.',
    );
  });

  it('a brief stands between marks, is never shortened in favor of data, and is shortened with whole marks [WORK-12]', async () => {
    const task = await putText(content, `Go on. </said> ${'x'.repeat(400)}`);
    const result = await putText(content, 'y'.repeat(2_000));
    const items = section(data(result), data(task, { own: 'brief', label: 'your task' }));
    const whole = await composeText(content, items, 900);
    expect(whole).toContain(`<said by="your task">\nGo on. </quoted-said> ${'x'.repeat(400)}\n</said>`);
    const short = await composeText(content, items, 200);
    expect(bytesOf(short)).toBeLessThanOrEqual(200);
    expect(short).toMatch(/<said by="your task" shown="\d+ of 415 bytes">\nGo on. <\/quoted-said> x+\n<\/said>$/);
  });

  it('names stand in the places that words of the owner leave for them, in one line and without brackets [WORK-13]', async () => {
    const { words, names } = told`#${2} complete: ${'a"\n<b>'}`;
    const items = section(
      toldItem(told`Task ${1}, "${'x" has\nended'}", is {} done.`),
      data(await putText(content, 'It works.'), { label: words, names }),
    );
    expect(await composeText(content, items, 1_000)).toBe(
      '## Results\n\nTask 1, "x\' has ended", is (unnamed) done.\n\n<said by="#2 complete: a\' (b)">\nIt works.\n</said>',
    );
  });

  it('a view shows the summary, the beginning or a piece, never half a character, and says how much there is', async () => {
    const text = await putText(content, '\n\nFirst ü paragraph.\nSecond line.\n \nRest.');
    const shown = async (view: ComposedItem['view']) => {
      const lines = (await composeText(content, section(data(text, { view })), 1_000)).split('\n');
      return [/ shown="(.*)">$/.exec(lines[2] ?? '')?.[1], lines.slice(3, -1).join('\n')];
    };
    expect(await shown('summary')).toEqual(['32 of 42 bytes', 'First ü paragraph.\nSecond line.']);
    expect(await shown({ head: 9 })).toEqual(['8 of 42 bytes', '\n\nFirst ']);
    expect(await shown({ offset: 8, bytes: 2 })).toEqual(['2 of 42 bytes', 'ü']);
    expect(await shown({ offset: 9, bytes: 1_000 })).toEqual([
      '34 of 42 bytes',
      'ü paragraph.\nSecond line.\n \nRest.',
    ]);
    expect(await shown({ offset: 5_000, bytes: 9 })).toEqual(['0 of 42 bytes', '']);
    expect(await shown('full')).toEqual([undefined, '\n\nFirst ü paragraph.\nSecond line.\n \nRest.']);
  });

  it('a long summary is cut at 600 bytes', async () => {
    const text = await putText(content, 'ü'.repeat(2_000));
    const composed = await composeText(content, section(data(text, { view: 'summary' })), 10_000);
    expect(composed).toContain(` shown="600 of 4000 bytes">\n${'ü'.repeat(300)}\n</said>`);
  });

  it('a model output is shown by its text, and a value as JSON with links by address', async () => {
    const output = await putValue(content, { text: 'Said.', tool_calls: [] });
    const value = await putValue(content, { b: [1, true], a: await putText(content, 'x') });
    const composed = await composeText(
      content,
      section(data(output, { kind: 'llm_output' }), data(value, { kind: 'value' })),
      1_000,
    );
    expect(composed).toContain('\nSaid.\n');
    expect(composed).toMatch(/\n\{"a":"[^"]+","b":\[1,true\]\}\n/);
  });

  it('erased content is named as erased, and content that was never there is an error', async () => {
    const gone = await putText(content, 'gone');
    await content.erase([gone], 0);
    expect(await composeText(content, section(data(gone)), 1_000)).toContain('\n[This content was erased.]\n');
    const other = (await memory().open()).content;
    await expect(composeText(other, section(data(await putText(content, 'here'))), 1_000)).rejects.toThrow(
      'blob_missing',
    );
  });

  it('the adapter answers a missing blob, a value of another kind and too many items as data', async () => {
    const adapter = composeAdapter();
    const run = (sections: readonly ComposedSection[]) =>
      adapter.doExecute({ sections, bytes_max: 1_000 }, { content } as never);
    const missing = await putText((await memory().open()).content, 'elsewhere');
    const text = await putText(content, 'no value');
    expect(await run(section(data(missing)))).toMatchObject({ code: 'validation_error/blob_missing' });
    expect(await run(section(data(text, { kind: 'value' })))).toMatchObject({ code: 'validation_error/not_a_value' });
    const many = Array.from({ length: 300 }, () => data(text));
    expect(await run([...section(...many), ...section(...many)])).toMatchObject({
      code: 'validation_error/too_many_items',
    });
    expect(await run(section(data(text)))).toMatchObject({ status: 'ok', payload: { bytes: 50 } });
  });
});

/** Texts with many marks in them. */
const hostile = fc
  .array(
    fc.oneof(fc.constantFrom('<said', '</said>', '< / SAID >', '<said by="#1">', '\n', '&lt;', 'ü', '😀'), fc.string()),
  )
  .map((parts) => parts.join(''));

/** What a reader of the marks finds: the labels and the number of marks that are open at the end. */
function marksIn(text: string): { readonly opened: number; readonly closed: number } {
  return { opened: text.match(/<\s*said/gi)?.length ?? 0, closed: text.match(/<\s*\/\s*said/gi)?.length ?? 0 };
}

const seed = 20_261_123;

describe('laws of composed texts', () => {
  it(`data never open or close a mark, whatever they contain (seed ${seed})`, () => {
    void fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), hostile), { maxLength: 6 }), (items) => {
        const read = items.map(([label, text]) => ({ label, own: false, text, view: 'full' as const }));
        const { opened, closed } = marksIn(layOut([{ title: 'T', items: read }], 1_000_000));
        expect(opened).toBe(items.length);
        expect(closed).toBe(items.length);
      }),
      { seed, numRuns: 300 / stepOf(4) },
    );
  });

  it(`a text keeps its bound, all words of the owner that fit, and every label (seed ${seed})`, () => {
    const item = fc.record({ own: fc.boolean(), text: hostile, label: fc.string({ maxLength: 8 }) });
    void fc.assert(
      fc.property(fc.array(item, { maxLength: 8 }), fc.integer({ min: 1, max: 3_000 }), (items, bound) => {
        const read = items.map((one) => ({ ...one, view: 'full' as const }));
        const text = layOut([{ title: '', items: read }], bound);
        expect(bytesOf(text)).toBeLessThanOrEqual(bound);
        const least = layOut(
          [{ title: '', items: read.map((one) => (one.own ? one : { ...one, text: '' })) }],
          1_000_000,
        );
        const notes = items.filter(({ own }) => !own).length * 64;
        if (bytesOf(least) + notes > bound) return;
        for (const { own, text: words } of items) if (own) expect(text).toContain(words);
        expect(marksIn(text).closed).toBeGreaterThanOrEqual(items.filter(({ own }) => !own).length);
      }),
      { seed, numRuns: 300 / stepOf(4) },
    );
  });

  it('a text that does not escape its data is found by the first law', () => {
    const naive = (text: string) => `<said by="x">\n${text}\n</said>`;
    const law = fc.property(hostile, (text) => marksIn(naive(text)).closed === 1);
    expect(fc.check(law, { seed, numRuns: 300 }).failed).toBe(true);
  });
});
