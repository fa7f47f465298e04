import { llmToolCall, type Value } from '@reprise/contracts';
import { parseJsonNoting } from '@reprise/contracts/json';
import { type ContentStore, decode, getBytes } from '@reprise/kernel';
import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { recordedJudge } from '../../src/judge/index.js';
import { defineTool, jsonSchema, type Tool } from '../../src/tools/index.js';
import { checkRead } from '../../src/tools/schema/check-read.js';
import { buildWith, freshContent, modelCall, textAt } from '../tools/calling.js';

const ID = '2512292042121000001';

let content: ContentStore;
beforeEach(async () => {
  content = await freshContent();
});

async function judged(args: object, text: string, schema?: object) {
  const tool = defineTool({
    name: 'find',
    description: '',
    args,
    run: () => 'x',
    ...(schema && { jsonSchema: schema }),
  } as never) as Tool;
  const { data, count, large } = parseJsonNoting(text);
  const call = { callId: 'c', tool: 'find', args: data as Value, ...(count > 0 && { largeNumbers: { count, large } }) };
  const context = { params: await modelCall(content, [tool]), content, signal: new AbortController().signal };
  const [answer] = await recordedJudge(buildWith([tool])).calls([call], context);
  if (answer === undefined) throw new Error('nothing was judged');
  return {
    issue: llmToolCall.parse(answer).issue,
    words: answer.issue_ref === undefined ? '' : await textAt(content, answer.issue_ref),
    args: decode(await getBytes(content, answer.args_ref)),
  };
}

describe('a number in arguments that no JavaScript number holds', () => {
  it.each([
    ['text', z.strictObject({ id: z.string() })],
    ['text of digits', z.strictObject({ id: z.string().regex(/^\d+$/) })],
    ['a list of texts', z.strictObject({ id: z.union([z.string(), z.array(z.string())]) })],
  ])('a large number is passed on as its digits where the schema takes only %s [TOOL-58]', async (_, schema) => {
    expect(await judged(schema, `{"id":${ID}}`)).toEqual({ issue: undefined, words: '', args: { id: ID } });
  });

  it.each([
    ['a number', z.strictObject({ id: z.number() })],
    ['an integer', z.strictObject({ id: z.int() })],
    ['a number up to 100', z.strictObject({ id: z.number().max(100) })],
    ['text or a number', z.strictObject({ id: z.union([z.string(), z.number()]) })],
    ['text or a small number', z.strictObject({ id: z.union([z.string(), z.number().max(100)]) })],
    ['anything', z.strictObject({ id: z.unknown() })],
    ['unknown fields', z.looseObject({})],
    ['what it makes a text of', z.strictObject({ id: z.coerce.string() })],
  ])('a large number is refused with its digits where the schema takes %s [TOOL-58]', async (_, schema) => {
    const { issue, words } = await judged(schema, `{"id":${ID}}`);
    expect([issue, words]).toEqual(['args_invalid', expect.stringContaining(`id: the number ${ID} is beyond`)]);
  });

  it('a number that is not finite is judged as a large one [TOOL-58]', async () => {
    expect(await judged(z.strictObject({ id: z.string() }), '{"id":1e999}')).toMatchObject({ args: { id: '1e999' } });
    expect(await judged(z.looseObject({}), '{"id":-1e999}')).toMatchObject({ issue: 'args_invalid' });
  });

  it('each of several large numbers is judged in its place, by a JSON Schema too [TOOL-58]', async () => {
    const schema = {
      type: 'object',
      properties: { ids: { type: 'array', items: { type: 'string' } }, n: { type: ['string', 'integer'] } },
    };
    const loose = jsonSchema(schema);
    expect(await judged(loose, `{"ids":[${ID},${ID}]}`, schema)).toMatchObject({ issue: undefined });
    const { issue, words } = await judged(loose, `{"ids":[${ID}],"n":${ID}}`, schema);
    expect([issue, words]).toEqual(['args_invalid', expect.stringContaining(`n: the number ${ID}`)]);
  });

  it('a union that takes numbers only in all places together still takes numbers [TOOL-58]', async () => {
    const pair = z.union([
      z.strictObject({ a: z.string(), b: z.string() }),
      z.strictObject({ a: z.number(), b: z.number() }),
    ]);
    const checked = await checkRead(pair, parseJsonNoting(`{"a":${ID},"b":${ID}}`));
    expect(checked.ok).toBe(false);
  });

  it('more large numbers than are listed are refused [TOOL-58]', async () => {
    const schema = z.strictObject({ ids: z.array(z.string()) });
    const { issue, words } = await judged(schema, `{"ids":[${Array(80).fill('1e99').join(',')}]}`);
    expect([issue, words]).toEqual(['args_invalid', expect.stringContaining('1e99')]);
  });
});

describe('a number in a returned value that no JavaScript number holds', () => {
  it('a large number of an answer is judged by the schema of what is returned [TOOL-59]', async () => {
    const text = await checkRead(z.strictObject({ id: z.string() }), parseJsonNoting(`{"id":${ID}}`));
    expect(text).toEqual({ ok: true, value: { id: ID } });
    const number = await checkRead(z.strictObject({ id: z.number() }), parseJsonNoting(`{"id":${ID}}`));
    expect(number).toMatchObject({ ok: false, problems: expect.stringContaining(ID) });
  });
});
