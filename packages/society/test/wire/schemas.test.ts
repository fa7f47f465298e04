import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { checker } from '@reprise/kernel/json-schema';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { SOCIETY_TOOLS, type SocietyToolName } from '../../src/pure/index.js';
import { fileSchema, type JsonSchema } from '../../src/wire/index.js';
import { EXAMPLES } from './examples.js';

const FOLDER = path.resolve(import.meta.dirname, '../../src/schemas');
const TOOLS = Object.keys(SOCIETY_TOOLS) as SocietyToolName[];
const SIDES = ['input', 'output'] as const;
const PARTS = { input: 'args', output: 'answer' } as const;
const ALL = TOOLS.flatMap((tool) => SIDES.map((side) => [tool, side] as const));

function fileOf(tool: string, side: string): string {
  return path.join(FOLDER, `${tool}.${side}.json`);
}

function read(tool: string, side: string): JsonSchema {
  return JSON.parse(readFileSync(fileOf(tool, side), 'utf8')) as JsonSchema;
}

/** Ajv as strict as it is, with the one format that the schemas use. */
function ajv() {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
  return new Ajv2020({ strict: true, formats: { 'date-time': time } });
}

/** One wrong thing at one place of an example. */
interface Mutation {
  readonly where: string;
  readonly value: unknown;
}

function resolved(schema: JsonSchema, defs: JsonSchema): JsonSchema {
  const { $ref } = schema;
  return typeof $ref === 'string' ? (defs[$ref.slice('#/$defs/'.length)] as JsonSchema) : schema;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Everything that a schema must refuse: a field too many or too few, and a value of another type. */
function* mutationsOf(schema: JsonSchema, value: unknown, defs: JsonSchema, where = '$'): Generator<Mutation> {
  if (schema.type === undefined && schema.enum === undefined && schema.anyOf === undefined && schema.$ref === undefined)
    return; // anything fits
  const named = resolved(schema, defs);
  if (named !== schema) {
    yield* mutationsOf(named, value, defs, where);
    return;
  }
  if (Array.isArray(schema.anyOf)) {
    const options = schema.anyOf.map((option) => resolved(option as JsonSchema, defs));
    yield* mutationsOf(options.find(({ type }) => type === kindOf(value)) ?? {}, value, defs, where);
    return;
  }
  if (Array.isArray(value)) {
    yield { where, value: { not: 'a list' } };
    for (const [i, item] of value.entries()) {
      for (const part of mutationsOf(schema.items as JsonSchema, item, defs, `${where}[${i}]`))
        yield { where: part.where, value: value.with(i, part.value) };
    }
    return;
  }
  if (typeof value !== 'object' || value === null) {
    yield { where, value: typeof value === 'number' ? 'one' : 17.5 };
    if (schema.enum !== undefined || schema.pattern !== undefined) yield { where, value: 'Not$One' };
    if (typeof schema.minimum === 'number') yield { where, value: schema.minimum - 1 };
    if (typeof schema.maximum === 'number') yield { where, value: schema.maximum + 1 };
    return;
  }
  yield { where, value: 'not an object' };
  if (schema.additionalProperties !== false) return;
  yield { where, value: { ...value, surplus: 1 } };
  for (const [key, part] of Object.entries(value)) {
    const { [key]: _, ...rest } = value as Record<string, unknown>;
    if ((schema.required as string[] | undefined)?.includes(key)) yield { where: `${where}.${key}`, value: rest };
    const of = (schema.properties as Record<string, JsonSchema>)[key] as JsonSchema;
    for (const inner of mutationsOf(of, part, defs, `${where}.${key}`))
      yield { where: inner.where, value: { ...value, [key]: inner.value } };
  }
}

describe('schemas of the tools', () => {
  it('Each tool has one file for its arguments and one for its answer, made from its source [SOC-45]', () => {
    const text = (tool: SocietyToolName, side: (typeof SIDES)[number]) =>
      `${JSON.stringify(fileSchema(SOCIETY_TOOLS[tool][PARTS[side]], side), null, 2)}\n`;
    if (process.env.DOCS_UPDATE === '1')
      for (const [tool, side] of ALL) writeFileSync(fileOf(tool, side), text(tool, side));
    expect(readdirSync(FOLDER).sort()).toEqual(ALL.map(([tool, side]) => `${tool}.${side}.json`).sort());
    expect(ALL).toHaveLength(48);
    for (const [tool, side] of ALL) expect(readFileSync(fileOf(tool, side), 'utf8')).toBe(text(tool, side));
  });

  it('The seven tools of the specification have its schemas, byte for byte [SOC-45]', () => {
    const digests = Object.entries(PUBLISHED).map(([tool, sides]) => [tool, sides] as const);
    for (const [tool, sides] of digests) {
      const found = SIDES.map((side) =>
        createHash('sha256')
          .update(JSON.stringify(read(tool, side)))
          .digest('hex')
          .slice(0, 16),
      );
      expect([tool, ...found]).toEqual([tool, ...sides]);
    }
  });

  it('A strict validator compiles all schemas and accepts an example of each [SOC-15]', () => {
    const strict = ajv();
    for (const [tool, side] of ALL) {
      const validate = strict.compile(read(tool, side));
      expect([tool, side, validate(EXAMPLES[tool][side]), validate.errors]).toEqual([tool, side, true, null]);
    }
  });

  it('The source of each schema and the validator of the server agree with it about examples and mutations', () => {
    const strict = ajv();
    const kinds = new Set<string>();
    let refused = 0;
    for (const [tool, side] of ALL) {
      const schema = read(tool, side);
      const validate = strict.compile(schema);
      const ours = checker(schema);
      if (!ours.ok) throw new Error(`${tool}.${side}: ${JSON.stringify(ours)}`);
      const source = SOCIETY_TOOLS[tool][PARTS[side]];
      const agree = (value: unknown) => [validate(value), source.safeParse(value).success, ours.check(value).ok];
      expect([tool, side, ...agree(EXAMPLES[tool][side])]).toEqual([tool, side, true, true, true]);
      for (const { where, value } of mutationsOf(schema, EXAMPLES[tool][side], (schema.$defs ?? {}) as JsonSchema)) {
        expect([tool, side, where, JSON.stringify(value), ...agree(value)].slice(4)).toEqual([false, false, false]);
        refused++;
        kinds.add(`${tool}.${side}${where}`);
      }
    }
    expect(refused).toBeGreaterThan(23 * ALL.length);
    expect(kinds.size).toBeGreaterThan(200);
  });
});

/**
 * The first digits of the digests of the published schemas. Beside what was published first, some tools say more: the
 * failed cell of an agent, subscriptions that were refused, rights that wait for a maker, pages of a swarm, and the words of
 * its agents; fields that nothing filled are gone.
 */
const PUBLISHED: Readonly<Record<string, readonly [input: string, output: string]>> = {
  agent_register: ['eaab4c91cb35ea4c', '479694470151bec9'],
  agent_deactivate: ['0e52ffb1486fabde', 'e24b156c836db4b2'],
  agent_list: ['be81d95cf8a5df08', '37399d224db22be1'],
  agent_capabilities: ['cd6c931827197c08', '0a776183e81d1f82'],
  swarm_create: ['15530d9341a1a835', '3bf5e187a75990b7'],
  swarm_status: ['24e463e7b24568b0', 'bc9eaad17f2f8e69'],
  swarm_disband: ['d29f617ae64f0ae6', 'bc1724db38c33d5a'],
};
