/** Arbitrary values generated from the schemas of definitions. */
import {
  fieldsOf,
  isKeyText,
  isTextFrom,
  isTextWithin,
  Ref,
  requireArgument,
  requireFields,
  type Value,
} from '@reprise/contracts';
import { portableSha256, type ReducerDefinition, toHex } from '@reprise/kernel';
import fc from 'fast-check';
import type { GivenEvent } from '../given/given-reducer.js';
import { anyTextOf } from './texts.js';
import { anyValue } from './values.js';

/** A compiled schema, as definitions hold it. */
export type FittingSchema = ReducerDefinition['state'];

/** The content behind every link of a generated value: put these bytes, and no link to them is refused. */
export const LINKED_BYTES: Uint8Array = new TextEncoder().encode('testkit: what made values link');

const LINKED = Ref.fromHex(toHex(portableSha256(LINKED_BYTES)), 'raw');

/** The most entries of a list, a map or a text without a bound of its own. */
const LENGTH_MAX = 6;

/**
 * Any value that passes a schema. Its links all lead to {@link LINKED_BYTES}.
 *
 * @throws TypeError for a schema that no value passes
 * @example fc.property(anyFitting(reducer.state), (state) => givenReducer(reducer).state(state))
 */
export function anyFitting(schema: FittingSchema): fc.Arbitrary<Value> {
  requireFields(schema, 'anyFitting(schema)', 'a schema');
  switch (schema.type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'bytes':
      return fc.uint8Array({ maxLength: LENGTH_MAX });
    case 'ref':
      return fc.constant(LINKED);
    case 'value':
      return anyValue({ links: false, bytes: false, maxDepth: 3 });
    case 'number':
      return anyNumber(schema);
    case 'text':
      return anyText(schema);
    case 'literal':
      return fc.constantFrom(...schema.values);
    case 'list':
      return fc.array(anyFitting(schema.item), lengthsOf(schema));
    case 'tuple':
      return fc.tuple(...schema.items.map(anyFitting));
    case 'record':
      return fc.dictionary(anyFitting(schema.key) as fc.Arbitrary<string>, anyFitting(schema.item), {
        maxKeys: LENGTH_MAX,
      });
    case 'object':
      return anyObject(schema.fields);
    case 'union':
      return fc.oneof(...schema.options.map(anyFitting));
    case 'never':
      throw new TypeError('no value passes this schema');
    default:
      return schema satisfies never;
  }
}

/**
 * Any event that a reducer takes from outside, made from its schemas. Notices of the kernel are not among them.
 *
 * @param which `creating`: only those that make a cell
 * @throws TypeError when no event fits
 * @example fc.property(anyEventOf(counter), (event) => givenReducer(counter).when(event))
 */
export function anyEventOf(reducer: ReducerDefinition, which: 'all' | 'creating' = 'all'): fc.Arbitrary<GivenEvent> {
  const fits = fieldsOf(reducer).events instanceof Map;
  requireArgument(fits, 'anyEventOf(reducer)', 'a reducer that defineReducer made', reducer);
  const events = [...reducer.events].filter(
    ([name, { creates }]) => !name.startsWith('sys/') && (which === 'all' || creates),
  );
  if (events.length === 0) throw new TypeError(`${reducer.name} takes no such event: ${which}`);
  return fc.oneof(...events.map(([name, { node }]) => anyFitting(node).map((value) => ({ name, value }))));
}

function anyNumber({ int, min, max, above, below }: Extract<FittingSchema, { type: 'number' }>): fc.Arbitrary<number> {
  const fits = (n: number): boolean => (above === undefined || n > above) && (below === undefined || n < below);
  const [low, high] = [min ?? above, max ?? below];
  if (!int) return fc.double({ noNaN: true, noDefaultInfinity: true, ...bounds(low, high) }).filter(fits);
  return fc.integer(bounds(low && Math.ceil(low), high && Math.floor(high))).filter(fits);
}

function bounds(min: number | undefined, max: number | undefined): { readonly min?: number; readonly max?: number } {
  return { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
}

type TextSchema = Extract<FittingSchema, { type: 'text' }>;

/** The longest text that is made to reach the bound of its schema. */
const TEXT_LENGTH_MAX = 1_000;

function anyText(schema: TextSchema): fc.Arbitrary<string> {
  const { min = 0, max, key, patterns = [] } = schema;
  const [first, ...others] = patterns.map((pattern) => new RegExp(pattern));
  const fits = (text: string): boolean =>
    isTextFrom(text, min) &&
    isTextWithin(text, max ?? Number.MAX_SAFE_INTEGER) &&
    (key === undefined || isKeyText(text, key)) &&
    others.every((one) => one.test(text));
  if (first !== undefined) return fc.stringMatching(first).filter(fits);
  if (key !== undefined) return anyKey(key).filter(fits);
  const { minLength, maxLength } = lengthsOf({ min, max });
  const short = fc.string({ minLength, maxLength });
  const bounds = [min, max].filter((bound) => bound !== undefined && bound <= TEXT_LENGTH_MAX);
  return fc.oneof(
    { weight: 3, arbitrary: short },
    ...bounds.map((bound) => ({ weight: 1, arbitrary: anyTextOf(bound as number) })),
  );
}

/** A text that is a key: short, or of as many bytes as fit. */
function anyKey(bytesMax: number): fc.Arbitrary<string> {
  const filled = ['a', 'é', '水', '😀'].map((sign, i) => sign.repeat(Math.floor(bytesMax / (i + 1))));
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: Math.min(bytesMax, LENGTH_MAX) }) },
    { weight: 1, arbitrary: fc.constantFrom(...filled.filter((text) => text !== '')) },
  );
}

function lengthsOf({ min = 0, max }: { readonly min?: number | undefined; readonly max?: number | undefined }) {
  return { minLength: min, maxLength: Math.min(max ?? Number.MAX_SAFE_INTEGER, min + LENGTH_MAX) };
}

function anyObject(fields: Extract<FittingSchema, { type: 'object' }>['fields']): fc.Arbitrary<Value> {
  const model = Object.fromEntries(Object.entries(fields).map(([name, { node }]) => [name, anyFitting(node)]));
  const requiredKeys = Object.keys(fields).filter((name) => fields[name]?.optional !== true);
  return fc.record(model, { requiredKeys }) as fc.Arbitrary<Value>;
}
