/**
 * Compiles a schema into rules: JSON Schema 2020-12, and the spellings of earlier drafts (`definitions`,
 * `dependencies`, `items` as a list with `additionalItems`, `exclusiveMinimum: true`).
 *
 * An unknown keyword means nothing, as the specification says. A known keyword with a malformed value
 * refuses the schema, since its meaning is unclear.
 */
import { Budget } from './budget.js';
import type { Rule, SchemaNode } from './check-run.js';
import { allRule, choiceRule, conditionRule, notRule, referenceRule } from './compose-rules.js';
import { isMap, type JsonMap } from './equal.js';
import { formatCheck } from './formats.js';
import {
  containsRule,
  countRule,
  dependentRule,
  entriesRule,
  itemsRule,
  namesRule,
  requiredRule,
  unevaluatedRule,
  uniqueRule,
} from './part-rules.js';
import { type LinearPattern, linearPattern } from './pattern.js';
import type { Properties } from './pattern-syntax.js';
import { baseOf, type Located, type Resources, SchemaRefused } from './resources.js';
import {
  equalRule,
  formatRule,
  isMultiple,
  type JsonType,
  lengthRule,
  numberRule,
  patternRule,
  TYPES,
  typeRule,
} from './value-rules.js';

/** The most states of all patterns of one schema. */
export const SCHEMA_STATES_MAX = 100_000;

/** A keyword: its schema, its value, and where it stands. */
interface Keyword {
  readonly schema: JsonMap;
  readonly value: unknown;
  readonly base: string;
  readonly where: string;
  /** The place of the schema; `where` is that of the keyword. */
  readonly at: string;
}

const NEVER: Rule = (_value, run) => run.problem('is not allowed');

/** Compiles the parts of one schema, each once. */
export class Compiler {
  readonly #nodes = new Map<object, SchemaNode>();
  readonly #patterns = new Map<string, LinearPattern>();
  readonly #later: (() => void)[] = [];
  #states = 0;

  constructor(
    private readonly resources: Resources,
    private readonly properties: Properties,
  ) {}

  /** The whole schema. @throws SchemaRefused */
  whole(): SchemaNode {
    const root = this.node(this.resources.root, '#');
    for (let next = this.#later.pop(); next !== undefined; next = this.#later.pop()) next();
    return root;
  }

  /** A part with its parts. @throws SchemaRefused */
  node(located: Located, where: string): SchemaNode {
    const { schema, base: outer } = located;
    if (typeof schema === 'boolean') return { rules: schema ? [] : [NEVER], base: outer };
    if (!isMap(schema)) throw new SchemaRefused(where, 'a schema is a map, true or false');
    const known = this.#nodes.get(schema);
    if (known !== undefined) return known;
    const node: SchemaNode = { rules: [], base: baseOf(schema, outer) };
    this.#nodes.set(schema, node); // before its parts: they may refer to it
    this.#fill(node, schema, where);
    return node;
  }

  #fill(node: SchemaNode, schema: JsonMap, where: string): void {
    for (const [name, rules] of Object.entries(KEYWORDS)) {
      if (!Object.hasOwn(schema, name)) continue;
      const keyword = { schema, value: schema[name], base: node.base, where: `${where}/${name}`, at: where };
      node.rules.push(...rules(keyword, this));
    }
  }

  /** The schema that stands directly in a keyword. */
  within({ value, base, where }: Keyword): SchemaNode {
    return this.node({ schema: value, base }, where);
  }

  /** The schemas of a list. */
  list({ value, base, where }: Keyword): readonly SchemaNode[] {
    if (!Array.isArray(value)) throw new SchemaRefused(where, 'it has to be a list of schemas');
    return value.map((schema, at) => this.node({ schema, base }, `${where}/${at}`));
  }

  /** The schemas of a map. */
  map({ value, base, where }: Keyword): readonly (readonly [string, SchemaNode])[] {
    return mapOf({ value, where }).map(([key, schema]) => [key, this.node({ schema, base }, `${where}/${key}`)]);
  }

  /** The schema that stands beside a keyword. */
  beside({ schema, base, at }: Keyword, name: string): SchemaNode | undefined {
    if (!Object.hasOwn(schema, name)) return undefined;
    return this.node({ schema: schema[name], base }, `${at}/${name}`);
  }

  /** The target of a reference. It is compiled later: a chain of references is not a recursion. */
  reference({ value, base, where }: Keyword): SchemaNode {
    return this.#referred(this.resources.find(textOf({ value, where }), base, where), where);
  }

  #referred(located: Located, where: string): SchemaNode {
    const { schema, base } = located;
    if (!isMap(schema)) return this.node(located, where);
    const known = this.#nodes.get(schema);
    if (known !== undefined) return known;
    const node: SchemaNode = { rules: [], base: baseOf(schema, base) };
    this.#nodes.set(schema, node);
    this.#later.push(() => this.#fill(node, schema, where));
    return node;
  }

  /** A reference to a dynamic anchor leads to the outermost of its name that was entered. */
  dynamic(keyword: Keyword): Rule {
    const { value, base, where } = keyword;
    const initial = this.reference(keyword);
    const name = this.resources.dynamicName(textOf({ value, where }), base);
    if (name === undefined) return allRule([initial]);
    const nodes = new Map<string, SchemaNode>();
    for (const place of this.resources.addresses) {
      const found = this.resources.dynamic(place, name);
      if (found !== undefined) nodes.set(place, this.#referred(found, where));
    }
    return referenceRule((run) => nodes.get(run.bases.find((entered) => nodes.has(entered)) ?? '') ?? initial);
  }

  pattern(source: string, where: string): LinearPattern {
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    const made = linearPattern(source, this.properties);
    if (typeof made === 'string') {
      throw new SchemaRefused(where, `the pattern ${source.slice(0, 200)} cannot be matched: ${made}`);
    }
    this.#states += made.states;
    if (this.#states > SCHEMA_STATES_MAX)
      throw new SchemaRefused(where, `its patterns need more than ${SCHEMA_STATES_MAX} states`);
    this.#patterns.set(source, made);
    return made;
  }
}

type Rules = (keyword: Keyword, compiler: Compiler) => readonly Rule[];

/** The rules of each keyword. The order is the order of the checks; the unevaluated keywords come last. */
const KEYWORDS: Readonly<Record<string, Rules>> = {
  type: (keyword) => [typeRule(typesOf(keyword))],
  const: ({ value }) => [equalRule([value], endless())],
  enum: (keyword) => [equalRule(listOf(keyword), endless())],
  minimum: (keyword) => limit(keyword, 'exclusiveMinimum', (n, value) => value >= n, 'at least'),
  maximum: (keyword) => limit(keyword, 'exclusiveMaximum', (n, value) => value <= n, 'at most'),
  exclusiveMinimum: (keyword) => exclusive(keyword, 'minimum', (n, value) => value > n, 'more than'),
  exclusiveMaximum: (keyword) => exclusive(keyword, 'maximum', (n, value) => value < n, 'less than'),
  multipleOf: (keyword) => {
    const of = numberOf(keyword);
    if (of <= 0) throw new SchemaRefused(keyword.where, 'it has to be above zero');
    return [numberRule((value) => isMultiple(value, of), `expected a multiple of ${of}`)];
  },
  minLength: (keyword) => count(keyword, (min) => lengthRule((n) => n >= min, `expected at least ${min} characters`)),
  maxLength: (keyword) => count(keyword, (max) => lengthRule((n) => n <= max, `expected at most ${max} characters`)),
  pattern: (keyword, compiler) => {
    const source = textOf(keyword);
    return [patternRule(compiler.pattern(source, keyword.where), source)];
  },
  format: (keyword) => {
    const name = textOf(keyword);
    const check = formatCheck(name);
    return check === undefined ? [] : [formatRule(check, name)];
  },
  minItems: (keyword) => count(keyword, (min) => countRule('items', (n) => n >= min, `expected at least ${min} items`)),
  maxItems: (keyword) => count(keyword, (max) => countRule('items', (n) => n <= max, `expected at most ${max} items`)),
  uniqueItems: ({ value }) => (value === true ? [uniqueRule] : []),
  prefixItems: (keyword, compiler) => [itemsRule(compiler.list(keyword), undefined)],
  items: (keyword, compiler) => {
    if (Array.isArray(keyword.value)) {
      return [itemsRule(compiler.list(keyword), compiler.beside(keyword, 'additionalItems'))];
    }
    const { prefixItems } = keyword.schema;
    const skipped = Array.isArray(prefixItems) ? prefixItems.map(() => ANYTHING) : [];
    return [itemsRule(skipped, compiler.within(keyword))];
  },
  contains: (keyword, compiler) => {
    const { minContains = 1, maxContains = Number.POSITIVE_INFINITY } = keyword.schema;
    const numbers = [minContains, maxContains].map((value) => numberOf({ ...keyword, value }));
    return [containsRule(compiler.within(keyword), numbers[0] ?? 1, numbers[1] ?? Number.POSITIVE_INFINITY)];
  },
  minProperties: (keyword) =>
    count(keyword, (min) => countRule('properties', (n) => n >= min, `expected at least ${min} keys`)),
  maxProperties: (keyword) =>
    count(keyword, (max) => countRule('properties', (n) => n <= max, `expected at most ${max} keys`)),
  required: (keyword) => [requiredRule(textsOf(keyword))],
  dependentRequired: (keyword) =>
    mapOf(keyword).map(([key, value]) => requiredRule(textsOf({ value, where: keyword.where }), key)),
  dependentSchemas: (keyword, compiler) => compiler.map(keyword).map(([key, node]) => dependentRule(key, node)),
  dependencies: (keyword, compiler) =>
    mapOf(keyword).map(([key, value]) =>
      Array.isArray(value)
        ? requiredRule(textsOf({ value, where: keyword.where }), key)
        : dependentRule(key, compiler.within({ ...keyword, value })),
    ),
  properties: (keyword, compiler) => entries(keyword, compiler),
  patternProperties: (keyword, compiler) => ('properties' in keyword.schema ? [] : entries(keyword, compiler)),
  additionalProperties: (keyword, compiler) =>
    'properties' in keyword.schema || 'patternProperties' in keyword.schema ? [] : entries(keyword, compiler),
  propertyNames: (keyword, compiler) => [namesRule(compiler.within(keyword))],
  allOf: (keyword, compiler) => [allRule(compiler.list(keyword))],
  anyOf: (keyword, compiler) => [choiceRule(compiler.list(keyword), false)],
  oneOf: (keyword, compiler) => [choiceRule(compiler.list(keyword), true)],
  not: (keyword, compiler) => [notRule(compiler.within(keyword))],
  if: (keyword, compiler) => [
    conditionRule(compiler.within(keyword), compiler.beside(keyword, 'then'), compiler.beside(keyword, 'else')),
  ],
  $ref: (keyword, compiler) => [allRule([compiler.reference(keyword)])],
  $dynamicRef: (keyword, compiler) => [compiler.dynamic(keyword)],
  $recursiveRef: (keyword, compiler) => [compiler.dynamic(keyword)],
  unevaluatedItems: (keyword, compiler) => [unevaluatedRule('items', compiler.within(keyword))],
  unevaluatedProperties: (keyword, compiler) => [unevaluatedRule('properties', compiler.within(keyword))],
};

const ANYTHING: SchemaNode = { rules: [], base: '' };

function entries(keyword: Keyword, compiler: Compiler): readonly Rule[] {
  const of = (name: string): readonly (readonly [string, SchemaNode])[] =>
    Object.hasOwn(keyword.schema, name)
      ? compiler.map({ ...keyword, value: keyword.schema[name], where: `${keyword.at}/${name}` })
      : [];
  const matching = of('patternProperties').map(
    ([source, node]) => [compiler.pattern(source, `${keyword.at}/patternProperties`), node] as const,
  );
  const others = compiler.beside(keyword, 'additionalProperties');
  return [entriesRule({ named: new Map(of('properties')), matching, others })];
}

type Compare = (limit: number, value: number) => boolean;

/** `minimum` and `maximum`: in draft 4 the other keyword may make the limit exclusive. */
function limit(keyword: Keyword, other: string, fits: Compare, words: string): readonly Rule[] {
  const n = numberOf(keyword);
  const open = keyword.schema[other] === true;
  const message = `expected ${open ? `not ${n} and ` : ''}${words} ${n}`;
  return [numberRule((value) => fits(n, value) && !(open && value === n), message)];
}

function exclusive(keyword: Keyword, other: string, fits: Compare, words: string): readonly Rule[] {
  if (typeof keyword.value === 'boolean' && (keyword.value === false || other in keyword.schema)) return [];
  const n = numberOf(keyword);
  return [numberRule((value) => fits(n, value), `expected ${words} ${n}`)];
}

function count(keyword: Keyword, rule: (n: number) => Rule): readonly Rule[] {
  const n = numberOf(keyword);
  if (n < 0) throw new SchemaRefused(keyword.where, 'it has to be a number from 0 on');
  return [rule(n)];
}

/** Schemas are bounded, so their comparison keys are. */
function endless(): Budget {
  return new Budget(Number.MAX_SAFE_INTEGER);
}

type Given = Pick<Keyword, 'value' | 'where'>;

function numberOf({ value, where }: Given): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new SchemaRefused(where, 'it has to be a number');
}

function textOf({ value, where }: Given): string {
  if (typeof value === 'string') return value;
  throw new SchemaRefused(where, 'it has to be text');
}

function listOf({ value, where }: Given): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new SchemaRefused(where, 'it has to be a list');
}

function textsOf(given: Given): readonly string[] {
  return listOf(given).map((value) => textOf({ value, where: given.where }));
}

function mapOf({ value, where }: Given): readonly (readonly [string, unknown])[] {
  if (isMap(value)) return Object.entries(value);
  throw new SchemaRefused(where, 'it has to be a map');
}

function typesOf({ value, where }: Given): readonly JsonType[] {
  const types = Array.isArray(value) ? value : [value];
  if (types.every((type): type is JsonType => TYPES.includes(type as JsonType))) return types;
  throw new SchemaRefused(where, `it has to be of ${TYPES.join(', ')}`);
}
