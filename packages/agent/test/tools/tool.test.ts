import { isRepriseError } from '@reprise/contracts';
import { encode, equalBytes } from '@reprise/kernel';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import { toolEntry } from '../../src/contracts/index.js';
import {
  buildOf,
  childTools,
  deferred,
  defineTool,
  describeTools,
  durationMs,
  type Schema,
} from '../../src/tools/index.js';

const noArgs = z.strictObject({});
const run = () => 'x';

/** A schema of no library: objects with a text `name`. */
const named: Schema<{ name: string }> = {
  '~standard': {
    version: 1,
    vendor: 'ours',
    validate: (given) =>
      typeof (given as { name?: unknown } | null)?.name === 'string'
        ? { value: { name: (given as { name: string }).name } }
        : { issues: [{ message: 'must be text', path: [{ key: 'name' }] }] },
  },
};
const NAMED_JSON = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

describe('the recorded definition of a tool', () => {
  it('the recorded form of a tool states its terms with defaults, and fits the schema', () => {
    const tool = defineTool({ name: 't', description: 'd', args: noArgs, run });
    expect(describeTools([tool])).toEqual([
      {
        name: 't',
        description: 'd',
        schema: { type: 'object', properties: {}, additionalProperties: false },
        kind: 'tool',
        fingerprint: tool.entry.fingerprint,
        guarantee: 'at_most_once',
        family: 'default',
        parallel: true,
        polling: false,
        on_unknown: 'tell_model',
      },
    ]);
    expect(toolEntry.parse(tool.entry)).toEqual(tool.entry);
    const all = defineTool({
      name: 't',
      description: 'd',
      args: noArgs,
      guarantee: 'reconcile',
      timeout: '1.5m',
      family: 'http',
      parallel: false,
      polling: true,
      onUnknown: 'ask_human',
      run,
      reconcile: () => 'unknown',
    });
    expect(toolEntry.parse(all.entry)).toMatchObject({
      timeout_ms: 90_000,
      guarantee: 'reconcile',
      on_unknown: 'ask_human',
    });
  });

  it('the recorded form is equal in bytes for equal definitions, and has another fingerprint for any other [TOOL-1]', () => {
    const make = (over: object = {}) => defineTool({ name: 't', description: 'd', args: noArgs, run, ...over }).entry;
    expect(equalBytes(encode(make()), encode(make({ run: () => 'another handler' })))).toBe(true);
    const others = [
      { description: 'e' },
      { args: z.strictObject({ a: z.int() }) },
      { timeout: '1s' },
      { parallel: false },
    ];
    const prints = others.map((over) => make(over).fingerprint);
    expect(new Set([...prints, make().fingerprint]).size).toBe(others.length + 1);
  });

  it('the recorded form describes arguments of any library: one that provides JSON Schema, zod/mini, and one with an explicit JSON Schema', () => {
    const told = defineTool({ name: 't', description: '', args: z.object({ a: z.int().default(1) }), run });
    expect(told.entry.schema).toMatchObject({ type: 'object', properties: { a: { type: 'integer', default: 1 } } });
    expect(told.entry.schema).not.toHaveProperty('$schema');
    const small = defineTool({ name: 't', description: '', args: mini.object({ a: mini.string() }), run });
    expect(small.entry.schema).toMatchObject({ required: ['a'] });
    const given = defineTool({
      name: 't',
      description: '',
      args: named,
      jsonSchema: NAMED_JSON,
      run: ({ name }) => name,
    });
    expect(given.entry.schema).toEqual(NAMED_JSON);
    expect(() => defineTool({ name: 't', description: '', args: named, run })).toThrow(/give `jsonSchema`/);
  });

  it.each([
    ['an empty name', { name: '' }],
    ['a name no provider takes', { name: 'read file' }],
    ['a name that is no text', { name: undefined }],
    ['a long description', { description: 'x'.repeat(1025) }],
    ['arguments that are no object', { args: z.string() }],
    ['arguments JSON Schema cannot tell', { args: z.strictObject({ when: z.date() }) }],
    ['something else than a schema', { args: { path: 'string' } }],
    ['a JSON Schema that is no data', { jsonSchema: { type: 'object', x: Number.NaN } }],
    ['no handler', { run: undefined }],
    ['guarantee reconcile without a function', { guarantee: 'reconcile' }],
    ['a function reconcile without the guarantee', { reconcile: () => 'unknown' }],
    ['another guarantee', { guarantee: 'exactly_once' }],
    ['a timeout of zero', { timeout: 0 }],
    ['a timeout without a unit', { timeout: '10' }],
    ['another approval', { approval: 'sometimes' }],
    ['a misspelled approval, which would let calls run', { aproval: 'always' }],
    ['a resource that is no function', { resource: 'file' }],
    ['an empty family', { family: '' }],
    ['another onUnknown', { onUnknown: 'panic' }],
    ['parallel as text', { parallel: 'no' }],
    ['polling as text', { polling: 'no' }],
    ['an output that is no schema', { output: {} }],
  ])('a tool definition is refused for %s', (_, over) => {
    const spec = { name: 't', description: 'd', args: noArgs, run, ...over };
    expect(() => defineTool(spec as never)).toThrow(
      expect.toSatisfy((error) => isRepriseError(error, 'invalid_definition')),
    );
  });
});

describe('a build', () => {
  const one = defineTool({ name: 't', description: '', args: noArgs, run });
  it('a build finds tools and agents by name; agents may share a tool, but not a name', () => {
    const build = buildOf([
      { name: 'a', tools: [one] },
      { name: 'b', tools: [one] },
    ]);
    expect(build.tool('t')).toBe(one);
    expect(build.agent('b')?.name).toBe('b');
    expect(build.tool('u')).toBeUndefined();
    const other = defineTool({ name: 't', description: '', args: noArgs, run });
    for (const agents of [
      [{ name: 'a', tools: [one, other] }],
      [
        { name: 'a', tools: [] },
        { name: 'a', tools: [] },
      ],
    ]) {
      expect(() => buildOf(agents)).toThrow(expect.toSatisfy((error) => isRepriseError(error, 'duplicate_definition')));
    }
  });

  it('an agent has the tools for children, which the session executes, only when it may spawn agents', () => {
    const tools = childTools(['scout', 'judge']);
    expect(tools.map(({ entry }) => [entry.name, entry.kind, entry.polling])).toEqual([
      ['spawn_agent', 'spawn', false],
      ['send_input', 'send_input', false],
      ['wait_agents', 'wait', true],
      ['close_agent', 'close', false],
    ]);
    for (const { entry } of tools) expect(toolEntry.parse(entry)).toEqual(entry);
    expect(JSON.stringify(tools[0]?.entry.schema)).toContain('["scout","judge"]');
    expect(() => childTools([])).toThrow(expect.toSatisfy((error) => isRepriseError(error, 'invalid_argument')));
  });
});

describe('a span of time', () => {
  it.each([
    [5, 5],
    ['250ms', 250],
    ['10s', 10_000],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['366d', 366 * 86_400_000],
  ] as const)('%s is %i ms', (given, ms) => {
    expect(durationMs(given, 'here')).toBe(ms);
  });

  it.each([0, -1, 1.5, Number.NaN, '', '10', '10 s', 's', '-1s', '1e3s', '0.1ms', '367d', null])(
    'the invalid duration %s is refused',
    (given) => {
      expect(() => durationMs(given as never, 'here')).toThrow(
        expect.toSatisfy((error) => isRepriseError(error, 'invalid_argument')),
      );
      expect(() => deferred({ expiresIn: given as never })).toThrow(/invalid duration/);
    },
  );
});
