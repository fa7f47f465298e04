/** Results of nodes: what is of its type counts, and for anything else the node reads what is wrong. */
import { putText, readText } from '@reprise/agent';
import type { Ref, Value } from '@reprise/contracts';
import { encode, getValue, memory, type OpenStore, putValue } from '@reprise/kernel';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { cpuMsOf } from '../../../../scripts/lib/cpu.js';
import { checkAdapter, type FileCapture } from '../../src/adapters/check.js';
import { type ResultType, treeCheckParams, treeCheckReceipt } from '../../src/index.js';

let content: OpenStore['content'];

beforeEach(async () => {
  ({ content } = await memory().open());
});

const files: FileCapture = {
  capture: async (path, tree) =>
    path === `${tree}.md` ? { bytes: new TextEncoder().encode('# Ü') } : { refused: 'there is no such file' },
};

interface Asked {
  readonly schema?: unknown;
  readonly summary?: string;
  readonly files?: FileCapture;
}

/** The result that counts, as it reads; or the problems. */
async function judged(returns: ResultType, from: object, { schema, summary, ...more }: Asked = {}): Promise<unknown> {
  const params = treeCheckParams.parse({
    returns,
    schema_ref: schema === undefined ? null : await putValue(content, schema as Value),
    from,
    summary_ref: summary === undefined ? null : await putText(content, summary),
    tree: 'survey',
  });
  const outcome = await checkAdapter('files' in more ? more.files : files).doExecute(params, { content } as never);
  if (outcome.status !== 'ok') return outcome;
  const receipt = treeCheckReceipt.parse(outcome.payload);
  if ('problems_ref' in receipt) return { problems: await readText(content, receipt.problems_ref) };
  const { ref, kind, bytes, summary_ref } = receipt.given;
  const result = kind === 'text' ? await readText(content, ref) : await getValue(content, ref);
  return {
    kind,
    result,
    bytes,
    ...(summary_ref === undefined ? {} : { summary: await readText(content, summary_ref) }),
  };
}

const fromCall = async (value: Value) => ({ value_ref: await putValue(content, value) });
const fromAnswer = async (text?: string) => ({
  output_ref: await putValue(content, { ...(text === undefined ? {} : { text }), tool_calls: [] }),
});
const ofCall = async (returns: ResultType, value: Value, asked?: Asked) =>
  judged(returns, await fromCall(value), asked);
const ofAnswer = async (returns: ResultType, text?: string, asked?: Asked) =>
  judged(returns, await fromAnswer(text), asked);

describe('results of nodes', () => {
  it('a text counts as it is, from a call and from a last answer, and an empty one does not', async () => {
    expect(await ofCall('text', 'Grüße')).toEqual({ kind: 'text', result: 'Grüße', bytes: 7 });
    expect(await ofAnswer('text', ' two\nlines ')).toMatchObject({ kind: 'text', result: ' two\nlines ' });
    expect(await ofAnswer('text')).toEqual({ problems: '- the result is empty; a text is needed' });
    expect(await ofCall('text', [1])).toEqual({ problems: '- the result is a list; a text is needed' });
  });

  it('a boolean is true or false, and in a last answer also yes or no, in any case', async () => {
    expect(await ofCall('boolean', false)).toMatchObject({ kind: 'value', result: false });
    for (const yes of ['true', ' Yes\n', 'YES', '```json\ntrue\n```'])
      expect(await ofAnswer('boolean', yes)).toMatchObject({ kind: 'value', result: true });
    expect(await ofAnswer('boolean', 'no')).toMatchObject({ result: false });
    expect(await ofAnswer('boolean', 'maybe')).toMatchObject({ problems: expect.stringContaining('true or false') });
    expect(await ofCall('boolean', 'true')).toMatchObject({ problems: expect.stringContaining('is a text') });
  });

  it('lists and objects are read from JSON alone, or from the only fenced block of a last answer', async () => {
    expect(await ofAnswer('list', '[1, "a"]')).toMatchObject({ kind: 'value', result: [1, 'a'] });
    expect(await ofAnswer('structured', 'Here:\n```json\n{"a": 1}\n```\nDone.')).toMatchObject({ result: { a: 1 } });
    const two = '```\n[1]\n```\n```\n[2]\n```';
    expect(await ofAnswer('list', two)).toEqual({ problems: '- the result is not JSON; a list is needed, as JSON' });
    expect(await ofAnswer('structured', '[1]')).toMatchObject({ problems: expect.stringContaining('is a list') });
    expect(await ofAnswer('structured', 'null')).toMatchObject({ problems: expect.stringContaining('is null') });
    expect(await ofAnswer('list', '[1e999]')).toMatchObject({ result: ['1e999'] }); // no number: the text of its digits
  });

  it('an object that does not fit its schema is refused with the path of each problem', async () => {
    const schema = {
      type: 'object',
      properties: { files: { type: 'array', items: { type: 'string' } } },
      required: ['files', 'count'],
    };
    const { problems } = (await ofCall('structured', { files: ['a', 2] }, { schema })) as { problems: string };
    expect(problems).toContain('files.1');
    expect(problems).toContain('count');
    expect(await ofCall('structured', { files: ['a'], count: 1 }, { schema })).toMatchObject({ kind: 'value' });
  });

  it('the schema of a list is that of its items, or of the whole list when it is one of a list', async () => {
    const item = { $ref: '#/$defs/name', $defs: { name: { type: 'string', minLength: 2 } } };
    expect(await ofCall('list', ['ab', 'cd'], { schema: item })).toMatchObject({ result: ['ab', 'cd'] });
    expect(await ofCall('list', ['ab', 'c'], { schema: item })).toMatchObject({
      problems: expect.stringMatching(/^- 1: /),
    });
    const whole = { type: 'array', items: { type: 'integer' }, minItems: 2 };
    expect(await ofCall('list', [1, 2], { schema: whole })).toMatchObject({ result: [1, 2] });
    expect(await ofCall('list', [1], { schema: whole })).toMatchObject({ problems: expect.any(String) });
  });

  it('a text of a tree may have a schema too, such as a list of words', async () => {
    const schema = { type: 'string', enum: ['red', 'green'] };
    expect(await ofCall('text', 'red', { schema })).toMatchObject({ result: 'red' });
    expect(await ofCall('text', 'blue', { schema })).toMatchObject({ problems: expect.any(String) });
  });

  it('a schema that takes too long to check gives a problem, and no wait', async () => {
    const schema = {
      type: 'object',
      additionalProperties: { allOf: Array.from({ length: 200 }, () => ({ type: 'integer' })) },
    };
    const value = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i]));
    const cost = await cpuMsOf(async () =>
      expect(await ofCall('structured', value, { schema })).toMatchObject({
        problems: expect.stringContaining('steps'),
      }),
    );
    expect(cost).toBeLessThan(10_000);
  });

  it('a file becomes content of the world, and its path the summary where the node gave none [TREE-22]', async () => {
    expect(await ofCall('file', 'survey.md')).toEqual({
      kind: 'text',
      result: '# Ü',
      bytes: 4,
      summary: 'The file survey.md, 4 bytes.',
    });
    expect(await ofAnswer('file', '`survey.md`\n', { summary: 'Mine.' })).toMatchObject({ summary: 'Mine.' });
    expect(await ofCall('file', '../x')).toEqual({
      problems: '- the result "../x" is refused: there is no such file',
    });
    expect(await ofCall('file', 'survey.md', { files: undefined as never })).toMatchObject({
      problems: expect.stringContaining('takes no files'),
    });
  });

  it('the results of the steps of a serial become one list', async () => {
    const text: { ref: Ref; kind: string; bytes: null } = {
      ref: await putText(content, 'a'),
      kind: 'text',
      bytes: null,
    };
    const value = { ref: await putValue(content, { b: [true] }), kind: 'value', bytes: 4 };
    const output = { ref: (await fromAnswer('c')).output_ref, kind: 'llm_output', bytes: null };
    expect(await judged('list', { list: [text, value, output] })).toMatchObject({
      kind: 'value',
      result: ['a', { b: [true] }, 'c'],
    });
  });

  it('content that is gone, or is no value, is an error and not a wrong result', async () => {
    const gone = await (await memory().open()).content.put(encode('elsewhere'));
    expect(await judged('text', { value_ref: gone })).toMatchObject({
      status: 'error',
      code: 'validation_error/blob_missing',
    });
    expect(await judged('text', { value_ref: await content.put(new Uint8Array([0xff])) })).toMatchObject({
      status: 'error',
      code: 'validation_error/not_a_value',
    });
  });

  it('a result of five megabytes is stored whole', async () => {
    const text = 'ü'.repeat(2_500_000);
    expect(await ofCall('text', text)).toMatchObject({ bytes: 5_000_000, result: text });
    const list = Array.from({ length: 50_000 }, (_, i) => `${'x'.repeat(100)}${i}`);
    expect(await ofAnswer('list', JSON.stringify(list))).toMatchObject({ result: list });
  });

  it('each JSON value is a result of its own type and of no other (300 runs, seed 18) [TREE-18]', async () => {
    const typeOf = (value: unknown) =>
      typeof value === 'string' && value.trim() !== ''
        ? 'text'
        : typeof value === 'boolean'
          ? 'boolean'
          : Array.isArray(value)
            ? 'list'
            : typeof value === 'object' && value !== null
              ? 'structured'
              : 'none';
    /** A value as its JSON is read: an integer that no number holds surely is the text of its digits. */
    const asRead = (one: unknown): unknown => {
      if (typeof one === 'number') return Number.isInteger(one) && !Number.isSafeInteger(one) ? String(one) : one;
      if (Array.isArray(one)) return one.map(asRead);
      if (typeof one !== 'object' || one === null) return one;
      return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, asRead(inner)]));
    };
    const types = ['text', 'boolean', 'list', 'structured'] as const;
    const property = fc.asyncProperty(fc.jsonValue(), async (any) => {
      const value = JSON.parse(JSON.stringify(any).replaceAll('-0', '0')) as Value;
      for (const type of types) {
        const found = (await ofCall(type, value)) as { readonly result?: unknown };
        if (type === typeOf(value)) expect(found.result).toEqual(value);
        else expect(found).toMatchObject({ problems: expect.stringMatching(/^- the result /) });
        const json = JSON.stringify(value);
        const said = (await ofAnswer(type, json)) as { readonly result?: unknown };
        if (type === 'text') expect(said.result).toBe(json);
        else if (type === typeOf(value)) expect(said.result).toEqual(asRead(value));
      }
    });
    await fc.assert(property, { numRuns: 300, seed: 18 });
  });

  it('no last answer, however broken, is more than a wrong result (300 runs, seed 18)', async () => {
    const part = fc.constantFrom(
      '```',
      '```json',
      '\n',
      '{',
      '[',
      '"',
      '}',
      ']',
      '1',
      'e999',
      '\ud800',
      ' yes ',
      ',',
      'x',
    );
    const property = fc.asyncProperty(
      fc.constantFrom('text', 'boolean', 'list', 'structured', 'file'),
      fc.array(part, { maxLength: 30 }).map((parts) => parts.join('').replaceAll('\ud800', '\ufffd')),
      async (type, text) => {
        const found = await ofAnswer(type as ResultType, text);
        expect(found).not.toHaveProperty('status');
      },
    );
    await fc.assert(property, { numRuns: 300 / stepOf(4), seed: 18 });
  });
});
