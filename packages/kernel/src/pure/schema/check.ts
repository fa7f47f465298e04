/**
 * Checks values against compiled schemas.
 *
 * Journals outlive libraries: a value that was recorded is judged by this walk over plain data, in every later release,
 * and never by the library in which its author wrote the schema. So the walk knows the closed language and nothing else,
 * it depends on its arguments alone, and a law compares it with that library over random schemas and values (SCH-3).
 */
import type { Value, ValueMap } from '@reprise/contracts';
import { isKeyText, isRef, isTextFrom, isTextWithin } from '@reprise/contracts';
import { pathText } from '../codec/encode.js';
import { isOwnMap } from '../codec/kinds.js';
import { describe, expectation } from './describe.js';
import type { FieldNode, SchemaNode } from './node.js';
import { tagsOf } from './tags.js';

/** The result of a check: the value, with defaults filled in, or its first error. */
type CheckResult =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly path: string; readonly expected: string; readonly actual: string };

/**
 * Checks a value against a compiled schema. The same function checks live and in replay, so both see the same
 * refusals; it depends on nothing but its arguments and never throws.
 *
 * Unknown keys are errors. When a key with a constant default is absent, the result is a copy with the default, which
 * shares all unchanged parts; when nothing is added, the result is the same object. The input is never changed.
 *
 * @param node a compiled schema
 * @param value a canonical value
 * @example check({ type: 'text', max: 2 }, 'abc')
 * // { ok: false, path: '$', expected: 'text of at most 2 characters', actual: '"abc"' }
 */
export function check(node: SchemaNode, value: Value): CheckResult {
  return checkNext(node, value, undefined);
}

/**
 * Checks a value as {@link check} does, except for what it shares with a value that fits the schema, in the same place.
 *
 * @param before a value for which `check` gave itself
 */
export function checkNext(node: SchemaNode, value: Value, before: Value | undefined): CheckResult {
  const result = walk(node, value, before);
  if (!(result instanceof Mismatch)) return { ok: true, value: result };
  const { path, expected, actual } = result;
  return { ok: false, path: pathText(path.toReversed()), expected, actual };
}

/** An error and its path. The path is built from the leaf up, so that a successful check builds none. */
class Mismatch {
  readonly path: (string | number)[] = [];
  readonly expected: string;
  readonly actual: string;

  constructor(expected: string, actual: string) {
    this.expected = expected;
    this.actual = actual;
  }

  under(step: string | number): this {
    this.path.push(step);
    return this;
  }
}

/** @param before a value that fits this very node; what is the same object as in it fits as well */
function walk(node: SchemaNode, value: Value, before?: Value): Value | Mismatch {
  if (value === before && before !== undefined) return value;
  switch (node.type) {
    case 'object':
      return isMap(value) ? walkObject(node, value, mapOf(before)) : mismatch(node, value);
    case 'record':
      return isMap(value) ? walkRecord(node, value, mapOf(before)) : mismatch(node, value);
    case 'list':
      if (!isList(value) || !within(node, value.length)) return mismatch(node, value);
      return walkItems(value, () => node.item, listOf(before));
    case 'tuple':
      if (!isList(value) || value.length !== node.items.length) return mismatch(node, value);
      return walkItems(value, (i) => node.items[i] as SchemaNode, listOf(before));
    case 'union':
      return node.on === undefined ? walkUnion(node, value, before) : walkTagged(node, node.on, value, before);
    default:
      return fits(node, value) ? value : mismatch(node, value);
  }
}

type Leaf = Exclude<SchemaNode, { type: 'object' | 'record' | 'list' | 'tuple' | 'union' }>;

/** Whether a node has no others inside. */
export function isLeaf(node: SchemaNode): node is Leaf {
  return !INNER.has(node.type);
}

const INNER: ReadonlySet<SchemaNode['type']> = new Set(['object', 'record', 'list', 'tuple', 'union']);

/** Whether a value fits a node that has no others inside. */
export function fits(node: Leaf, value: Value): boolean {
  switch (node.type) {
    case 'null':
      return value === null;
    case 'boolean':
      return typeof value === 'boolean';
    case 'bytes':
      return value instanceof Uint8Array;
    case 'ref':
      return isRef(value);
    case 'value':
      return value !== undefined;
    case 'never':
      return false;
    case 'number':
      return typeof value === 'number' && fitsNumber(node, value);
    case 'text':
      return typeof value === 'string' && fitsText(node, value);
    case 'literal':
      return node.values.includes(value);
  }
}

function fitsNumber(node: Extract<SchemaNode, { type: 'number' }>, n: number): boolean {
  if (node.int ? !Number.isSafeInteger(n) : !Number.isFinite(n)) return false;
  if (node.min !== undefined && n < node.min) return false;
  if (node.max !== undefined && n > node.max) return false;
  if (node.above !== undefined && n <= node.above) return false;
  return node.below === undefined || n < node.below;
}

function fitsText(node: Extract<SchemaNode, { type: 'text' }>, text: string): boolean {
  if (node.min !== undefined && !isTextFrom(text, node.min)) return false;
  if (node.max !== undefined && !isTextWithin(text, node.max)) return false;
  if (node.key !== undefined && !isKeyText(text, node.key)) return false;
  if (node.patterns === undefined) return true;
  for (const pattern of patternsOf(node, node.patterns)) if (!pattern.test(text)) return false;
  return true;
}

/** Whether so many items are within the bounds of a list. */
export function within(node: { readonly min?: number; readonly max?: number }, length: number): boolean {
  return (node.min === undefined || length >= node.min) && (node.max === undefined || length <= node.max);
}

const compiled = new WeakMap<SchemaNode, readonly RegExp[]>();

/** The patterns of a text node, compiled once: a schema as data cannot hold a `RegExp`. */
function patternsOf(node: SchemaNode, sources: readonly string[]): readonly RegExp[] {
  const known = compiled.get(node);
  if (known !== undefined) return known;
  const patterns = sources.map((source) => new RegExp(source));
  compiled.set(node, patterns);
  return patterns;
}

function walkItems(
  value: readonly Value[],
  nodeAt: (i: number) => SchemaNode,
  before: readonly Value[] = NO_ITEMS,
): Value | Mismatch {
  let copy: Value[] | undefined;
  for (let i = 0; i < value.length; i++) {
    const item = value[i] as Value;
    const result = walk(nodeAt(i), item, before[i]);
    if (result instanceof Mismatch) return result.under(i);
    if (result === item) continue;
    copy ??= [...value];
    copy[i] = result;
  }
  return copy ?? value;
}

function walkRecord(
  node: Extract<SchemaNode, { type: 'record' }>,
  value: ValueMap,
  before: ValueMap = NO_FIELDS,
): Value | Mismatch {
  let copy: Record<string, Value> | undefined;
  for (const key of Object.keys(value)) {
    if (walk(node.key, key) instanceof Mismatch)
      return new Mismatch(`keys: ${expectation(node.key)}`, describe(key)).under(key);
    const item = value[key] as Value;
    const result = walk(node.item, item, before !== NO_FIELDS && Object.hasOwn(before, key) ? before[key] : undefined);
    if (result instanceof Mismatch) return result.under(key);
    if (result === item) continue;
    copy ??= { ...value };
    copy[key] = result;
  }
  return copy ?? value;
}

function walkObject(
  node: Extract<SchemaNode, { type: 'object' }>,
  value: ValueMap,
  before: ValueMap = NO_FIELDS,
): Value | Mismatch {
  let copy: Record<string, Value> | undefined;
  const fields = entriesOf(node);
  let present = 0;
  for (let i = 0; i < fields.length; i++) {
    const [key, field] = fields[i] as Entries[number];
    const absent = !Object.hasOwn(value, key);
    if (!absent) present++;
    if (absent && field.optional) continue;
    if (absent && field.fallback === undefined) return new Mismatch(expectation(field.node), 'nothing').under(key);
    const item = absent && field.fallback !== undefined ? field.fallback[0] : (value[key] as Value);
    const result = absent
      ? item
      : walk(field.node, item, before !== NO_FIELDS && Object.hasOwn(before, key) ? before[key] : undefined);
    if (result instanceof Mismatch) return result.under(key);
    if (result === item && !absent) continue;
    copy ??= { ...value };
    copy[key] = result;
  }
  return unknownKey(node, value, present) ?? copy ?? value;
}

/** @param present the number of keys that are known */
function unknownKey(
  node: Extract<SchemaNode, { type: 'object' }>,
  value: ValueMap,
  present: number,
): Mismatch | undefined {
  const keys = Object.keys(value);
  if (keys.length === present) return undefined;
  for (const key of keys) {
    if (!Object.hasOwn(node.fields, key)) return new Mismatch('no such key', describe(value[key] as Value)).under(key);
  }
  return undefined;
}

type Entries = readonly (readonly [string, FieldNode])[];
const entries = new WeakMap<SchemaNode, Entries>();

function entriesOf(node: Extract<SchemaNode, { type: 'object' }>): Entries {
  const known = entries.get(node);
  if (known !== undefined) return known;
  const found = Object.entries(node.fields);
  entries.set(node, found);
  return found;
}

/**
 * The first option that fits is taken. When none fits, the error is that of the option that matched furthest. What fitted
 * before fitted some option, which is known only where a single one takes values of its kind.
 */
function walkUnion(
  node: Extract<SchemaNode, { type: 'union' }>,
  value: Value,
  before: Value | undefined,
): Value | Mismatch {
  let furthest: Mismatch | undefined;
  const known = before !== undefined && before !== null && isNullable(node) ? before : undefined;
  for (const option of node.options) {
    const may = mayFit(option, value);
    if (may === false) continue; // it would have matched no further than its beginning
    if (may === 'whole') return value;
    const result = walk(option, value, known);
    if (!(result instanceof Mismatch)) return result;
    if (result.path.length > (furthest?.path.length ?? 0)) furthest = result;
  }
  return furthest ?? mismatch(node, value);
}

/** Whether a union is null or one other thing, which all that is not null must fit. */
function isNullable({ options }: Extract<SchemaNode, { type: 'union' }>): boolean {
  return options.length === 2 && options[0]?.type === 'null' && options[1]?.type !== 'union';
}

/** Whether a value is of the kind that a node takes: tells apart most options without an error that is then dropped. */
function mayFit(node: SchemaNode, value: Value): boolean | 'whole' {
  switch (node.type) {
    case 'object':
    case 'record':
      return isMap(value);
    case 'list':
    case 'tuple':
      return isList(value);
    case 'union':
      return true;
    default:
      return fits(node, value) && 'whole';
  }
}

function walkTagged(
  node: Extract<SchemaNode, { type: 'union' }>,
  on: string,
  value: Value,
  before: Value | undefined,
): Value | Mismatch {
  if (!isMap(value)) return mismatch(node, value);
  const tag = Object.hasOwn(value, on) ? value[on] : undefined;
  const options = optionsByTag(node, on);
  const option = tag === undefined ? undefined : options.get(tag);
  if (option !== undefined) return walk(option, value, tagOf(before, on) === tag ? before : undefined);
  const expected = expectation({ type: 'literal', values: [...options.keys()] });
  return new Mismatch(expected, tag === undefined ? 'nothing' : describe(tag)).under(on);
}

/** The tag of what fitted before: with the same one, it fitted the same option. */
function tagOf(before: Value | undefined, on: string): Value | undefined {
  return before !== undefined && isMap(before) && Object.hasOwn(before, on) ? before[on] : undefined;
}

const tagged = new WeakMap<SchemaNode, ReadonlyMap<Value, SchemaNode>>();

/** The options of a union by the values of the field that tells them apart. */
export function optionsByTag(node: Extract<SchemaNode, { type: 'union' }>, on: string): ReadonlyMap<Value, SchemaNode> {
  const known = tagged.get(node);
  if (known !== undefined) return known;
  const options = new Map<Value, SchemaNode>();
  for (const option of node.options) for (const tag of tagsOf(option, on) ?? []) options.set(tag, option);
  tagged.set(node, options);
  return options;
}

function mismatch(node: SchemaNode, value: Value): Mismatch {
  return new Mismatch(expectation(node), describe(value));
}

const NO_FIELDS: ValueMap = {};
const NO_ITEMS: readonly Value[] = [];

function mapOf(value: Value | undefined): ValueMap | undefined {
  return value !== undefined && isMap(value) ? value : undefined;
}

function listOf(value: Value | undefined): readonly Value[] | undefined {
  return value !== undefined && isList(value) ? value : undefined;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function isMap(value: Value): value is ValueMap {
  if (typeof value !== 'object' || value === null) return false;
  return isOwnMap(value) || !(Array.isArray(value) || value instanceof Uint8Array || isRef(value));
}
