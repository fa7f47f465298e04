/** The tools of a node: what models may write, and what of it reaches the tree. */
import { check, readText, type Tool } from '@reprise/agent';
import { sessionOp, type Value } from '@reprise/contracts';
import { encode, getValue, memory, type OpenStore } from '@reprise/kernel';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { NODE_TOOLS, type NodeTool, nodeCalls, nodeTools, RESULT_TYPES } from '../../src/index.js';
import { nodeToolCatalog } from '../../src/tools/node-tools.js';

const SESSION = { key: 'survey/2', labels: {} };
const TERMS = { returns: 'text', makes: true, unit: 'micro_money', files: true } as const;
let content: OpenStore['content'];

beforeEach(async () => {
  ({ content } = await memory().open());
});

const toolOf = (name: NodeTool, terms: Partial<Parameters<typeof nodeTools>[0]> = {}): Tool => {
  const tool = nodeTools({ ...TERMS, ...terms }).find((one) => one.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
};

/** The arguments that the tree receives, or the problems that the model reads. */
async function called(tool: Tool, args: unknown): Promise<unknown> {
  const fits = await check(tool.args, args);
  if (!fits.ok) return fits.problems;
  const op = sessionOp.parse(await tool.operation?.(fits.value as never, content, SESSION));
  return op.op === 'owner' ? op.args : op;
}

/** A call that the tree takes: its arguments pass the contract. */
async function taken<T extends NodeTool>(name: T, args: unknown, terms = {}) {
  return nodeCalls[name].call.parse(await called(toolOf(name, terms), args)) as never as Record<string, never>;
}

describe('the tools of a node', () => {
  it('a node at the last depth has no tools that make children', () => {
    expect(nodeTools(TERMS).map(({ name }) => name)).toEqual(NODE_TOOLS);
    expect(nodeTools({ ...TERMS, makes: false }).map(({ name }) => name)).toEqual(
      NODE_TOOLS.filter((name) => !['spawn', 'fork', 'serial'].includes(name)),
    );
  });

  it('equal terms give the same tools, so a definition is found again in another process', () => {
    expect(nodeTools(TERMS)).toEqual(nodeTools({ ...TERMS }));
    for (const [i, tool] of nodeTools(TERMS).entries()) expect(nodeTools(TERMS)[i]).toBe(tool);
    const prints = nodeToolCatalog().map(({ entry }) => entry.fingerprint);
    expect(new Set(prints).size).toBe(prints.length);
    for (const returns of RESULT_TYPES)
      for (const unit of ['tokens', 'micro_money'] as const)
        for (const files of [true, false])
          for (const { entry } of nodeTools({ returns, unit, files, makes: true }))
            expect(prints).toContain(entry.fingerprint);
  });

  it('descriptions and schemas of all nine tools take less than twelve kilobytes of every prompt', () => {
    for (const { entry } of nodeTools(TERMS)) expect(entry.description.length).toBeLessThanOrEqual(1_024);
    const told = nodeTools(TERMS).map(({ entry: { name, description, schema } }) => ({ name, description, schema }));
    expect(JSON.stringify(told).length).toBeLessThan(12_000);
  });

  it('the prompt, the schema and the result of a call become links, and a goal becomes one line', async () => {
    const schema = { type: 'object', required: ['files'] };
    const spec = await taken('spawn', {
      goal: ' List\n  what\timports it ',
      prompt: 'Read src.\nList all.',
      returns: 'structured',
      schema,
      blocked_by: [2, { node: 3, view: 'summary', on_failure: 'continue' }],
      priority: 5,
      agent: 'reader',
      budget_usd: 0.25,
      timeout_seconds: 90,
    });
    expect(spec).toMatchObject({
      goal: 'List what imports it',
      returns: 'structured',
      blocked_by: [2, { node: 3, view: 'summary', on_failure: 'continue' }],
      priority: 5,
      agent: 'reader',
      budget: 250_000,
      unit: 'micro_money',
      timeout_ms: 90_000,
    });
    expect(await readText(content, spec.prompt_ref as never)).toBe('Read src.\nList all.');
    expect(await getValue(content, spec.schema_ref as never)).toEqual(schema);
  });

  it('a tree that counts in tokens offers a budget in tokens, and no other', async () => {
    const asked = { goal: 'g', prompt: 'p', budget_tokens: 500 };
    expect(await taken('spawn', asked, { unit: 'tokens' })).toMatchObject({ budget: 500, unit: 'tokens' });
    expect(await called(toolOf('spawn'), asked)).toContain('budget_tokens');
    expect(await called(toolOf('spawn', { unit: 'any' }), { ...asked, budget_usd: 1 })).toContain(
      'budget_tokens: cannot stand beside budget_usd',
    );
  });

  it('without a folder no result is a file', async () => {
    const asked = { goal: 'g', prompt: 'p', returns: 'file' };
    expect(await taken('spawn', asked)).toMatchObject({ returns: 'file' });
    expect(await called(toolOf('spawn', { files: false }), asked)).toContain('returns');
  });

  it.each([
    ['an unknown type of result', { returns: 'a list of files' }, '"structured"'],
    ['approval as a type of result', { returns: 'approval' }, 'returns'],
    ['an empty goal', { goal: ' \n ' }, 'goal: is empty'],
    ['a goal of control characters, of which no line is left', { goal: '\u0000\u001b' }, 'goal: is empty'],
    ['a goal of more than 500 bytes', { goal: 'ü'.repeat(300) }, 'goal: has 600 bytes; at most 500'],
    ['a prompt of more than 100,000 bytes', { prompt: 'ü'.repeat(60_000) }, 'prompt: has 120000 bytes'],
    ['33 needs', { blocked_by: Array.from({ length: 33 }, (_, i) => i + 1) }, 'blocked_by'],
    [
      'a schema that is no JSON Schema',
      { returns: 'structured', schema: { type: 'nonsense' } },
      'schema: schema_invalid',
    ],
    [
      'a schema with a reference to outside',
      { returns: 'list', schema: { $ref: 'https://x.test/s' } },
      'schema_invalid',
    ],
    ['a schema of more than 8 KiB', { returns: 'list', schema: { title: 'x'.repeat(9_000) } }, 'schema_invalid: 9012'],
    ['a schema for a text', { schema: { type: 'object' } }, 'schema: is for "returns": "list" or "structured"'],
    ['a misspelled argument', { blockedby: [1] }, 'blockedby'],
    ['a budget of nothing', { budget_usd: 0 }, 'budget_usd'],
  ])('spawn tells the model what is wrong with %s', async (_what, wrong, told) => {
    expect(await called(toolOf('spawn'), { goal: 'g', prompt: 'p', ...wrong })).toContain(told);
  });

  it('the steps of a serial are kept like nodes, and a schema of a step is checked', async () => {
    const steps = [
      { goal: 'write', prompt: 'Write it.' },
      { goal: 'count', prompt: 'Count.', returns: 'list', schema: { type: 'integer' }, agent: 'counter' },
    ];
    const call = await taken('serial', { goal: 'write and count', steps, result: 'list', blocked_by: [4] });
    expect(call).toMatchObject({ steps: [{ goal: 'write' }, { returns: 'list', agent: 'counter' }], result: 'list' });
    const bad = [{ goal: 'g', prompt: 'p', schema: { type: 'object' } }];
    expect(await called(toolOf('serial'), { goal: 'g', steps: bad })).toContain('steps.0.schema: is for');
    expect(await called(toolOf('serial'), { goal: 'g', steps: [] })).toContain('steps');
  });

  it('complete takes a result of its own type only, or none', async () => {
    const results = { text: 'done', boolean: false, list: [1, { a: null }], structured: { a: [] }, file: 'out/a.md' };
    for (const returns of RESULT_TYPES) {
      const call = await taken('complete', { result: results[returns] }, { returns });
      if (returns === 'text')
        expect(await readText(content, (call as never as { text: { ref: never } }).text.ref)).toBe(results.text);
      else expect(await getValue(content, call.value_ref as never)).toEqual(results[returns]);
      const other = returns === 'list' ? 'text' : 'list';
      expect(await called(toolOf('complete', { returns }), { result: results[other] })).toContain('result');
      expect(await taken('complete', {}, { returns })).toEqual({});
    }
    const { summary_ref } = await taken('complete', { result: 'x', summary: 'Short.' });
    expect(await readText(content, summary_ref as never)).toBe('Short.');
    expect(await called(toolOf('complete'), { summary: 'ü'.repeat(400) })).toContain('summary: has 800 bytes');
  });

  it('a result of five megabytes is stored whole, and its link is all that reaches the tree', async () => {
    const result = Array.from({ length: 50_000 }, (_, i) => ({ i, text: 'x'.repeat(100) }));
    const call = await called(toolOf('complete', { returns: 'list' }), { result });
    expect(encode(call as Value).length).toBeLessThan(128);
    const stored = await getValue(content, (call as never as { value_ref: never }).value_ref);
    expect(stored).toEqual(result);
  });

  it('a question is kept as a value for people, and as a text with its options for agents', async () => {
    const call = await taken('ask', {
      question: 'Keep\nthe old parser?',
      options: ['yes', 'until 2.0'],
      default: 'yes',
    });
    expect(call).toMatchObject({ goal: 'Keep the old parser?', options: ['yes', 'until 2.0'], default: 'yes' });
    expect(await getValue(content, call.question_ref as never)).toEqual({
      question: 'Keep\nthe old parser?',
      options: ['yes', 'until 2.0'],
    });
    expect(await readText(content, call.text_ref as never)).toBe(
      'Keep\nthe old parser?\n\nThe answer is one of: "yes", "until 2.0"',
    );
    const long = await taken('ask', { question: 'why '.repeat(1_000) });
    expect(String(long.goal)).toMatch(/^why why .*…$/);
    expect(String(long.goal).length).toBeLessThanOrEqual(121);
  });

  it('questions of yes or no, and approvals, have their options by themselves', async () => {
    expect(await taken('ask', { question: 'q', returns: 'boolean', default: 'no' })).toMatchObject({
      options: ['yes', 'no'],
    });
    expect(await taken('ask', { question: 'q', returns: 'approval', target: 7 })).toMatchObject({
      options: ['approved', 'rejected'],
      target: 7,
    });
    const ask = toolOf('ask');
    expect(await called(ask, { question: 'q', returns: 'boolean', options: ['a', 'b'] })).toContain('leave them out');
    expect(await called(ask, { question: 'q', default: 'a' })).toContain('default: needs options');
    expect(await called(ask, { question: 'q', options: ['a', 'b'], default: 'c' })).toContain('not_an_option');
    expect(await called(ask, { question: 'q', options: ['a', 'a'] })).toContain('name one option twice');
    expect(await called(ask, { question: 'q', options: Array.from({ length: 13 }, (_, i) => `${i}`) })).toContain(
      'options',
    );
    expect(await called(ask, { question: 'q', target: 'sibling' })).toContain('target');
    expect(await called(ask, { question: '\u0000' })).toContain('question: is empty');
  });

  it('an answer is kept as a text, with what was picked when it is short', async () => {
    const text = async (value: unknown) => {
      const call = await taken('answer', { ask_id: 8, value });
      return [call.picked, await readText(content, call.text_ref as never)];
    };
    expect(await text('until 2.0')).toEqual(['until 2.0', 'until 2.0']);
    expect(await text(true)).toEqual([true, 'yes']);
    expect(await text('x'.repeat(300))).toEqual([null, 'x'.repeat(300)]);
  });

  it('every call that a tool accepts passes the contract of the tree, for random arguments (200 runs, seed 18)', async () => {
    const goal = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }).filter((text) => text.trim() !== '');
    const some = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: undefined });
    const node = fc.integer({ min: 1, max: 9_999_999 });
    const need = fc.oneof(
      node,
      fc.record({ node, view: some(fc.constantFrom('full', 'none')), on_failure: some(fc.constantFrom('block')) }),
    );
    const work = { goal, prompt: goal, returns: some(fc.constantFrom(...RESULT_TYPES)), agent: some(goal) };
    const spec = fc.record({
      ...work,
      blocked_by: some(fc.array(need, { maxLength: 32 })),
      priority: some(fc.integer({ min: -1000, max: 1000 })),
      budget_usd: some(fc.double({ min: 1e-9, max: 1e6, noNaN: true })),
      timeout_seconds: some(fc.integer({ min: 1, max: 1e6 })),
    });
    const calls = fc.oneof(
      fc.tuple(fc.constantFrom('spawn', 'fork'), spec),
      fc.tuple(
        fc.constant('serial'),
        fc.record({ goal, steps: fc.array(fc.record(work), { minLength: 1, maxLength: 5 }) }),
      ),
      fc.tuple(fc.constant('complete'), fc.record({ result: some(goal), summary: some(goal) })),
      fc.tuple(fc.constant('ask'), fc.record({ question: goal, target: some(fc.constantFrom('human', 'parent', 3)) })),
      fc.tuple(fc.constant('answer'), fc.record({ ask_id: node, value: fc.oneof(goal, fc.boolean()) })),
      fc.tuple(fc.constant('stop'), fc.record({ node_id: node, reason: some(goal) })),
      fc.tuple(fc.constant('read_tree'), fc.record({ root: some(node), depth: some(fc.integer({ min: 1, max: 12 })) })),
    );
    const meant = fc.asyncProperty(calls, async ([name, given]) => {
      const args = JSON.parse(JSON.stringify(given));
      await taken(name as NodeTool, args);
    });
    await fc.assert(meant, { numRuns: 200 / stepOf(4), seed: 18 });
  });
});
