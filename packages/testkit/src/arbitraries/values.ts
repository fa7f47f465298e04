import {
  type Address,
  RECEIPT_STATUSES,
  type Receipt,
  Ref,
  requireFields,
  type Value,
  value,
} from '@reprise/contracts';
import { defineEffect, type EffectDefinition, toHex } from '@reprise/kernel';
import fc from 'fast-check';
import * as z from 'zod';

/** The kinds of content allowed in an arbitrary value. */
export interface AnyValueOptions {
  /** Byte strings; true when absent. Reducer state may hold none. */
  readonly bytes?: boolean;
  /** Links to content that no store has; true when absent. A request may link only what is stored. */
  readonly links?: boolean;
  /** The most levels of nesting; 6 when absent. */
  readonly maxDepth?: number;
}

/** Keys that engines reorder, keys whose UTF-8 bytes and UTF-16 units sort differently, names of the prototype. */
export const ODD_KEYS: readonly string[] = [
  '10',
  '9',
  'b',
  'aa',
  'é',
  '\uffff',
  '\u{10000}',
  'constructor',
  'toString',
  '',
];

const keys = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 4 }).filter((key) => key !== '__proto__') },
  { weight: 3, arbitrary: fc.constantFrom(...ODD_KEYS) },
);

const numbers = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 0, 23, 24, 255, 256, 2 ** 32, 2 ** 53, 0.1, 1e21, 5e-324),
);

const texts = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', '\u0000', 'é', '😀', '\ufeff', 'a'.repeat(256)),
);

const links = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.constantFrom('raw' as const, 'value' as const))
  .map(([digest, kind]) => Ref.fromHex(toHex(digest), kind));

/**
 * Any canonical value: numbers and texts at their edges, keys that engines reorder, −0, empty things.
 *
 * @example fc.property(anyValue(), (value) => equalBytes(encode(decode(encode(value))), encode(value)))
 */
export function anyValue(options: AnyValueOptions = {}): fc.Arbitrary<Value> {
  requireFields(options, 'anyValue(options)', 'an object');
  const leaves: fc.Arbitrary<Value>[] = [numbers, texts, fc.constantFrom<Value>(null, true, false)];
  if (options.bytes !== false) leaves.push(fc.uint8Array({ maxLength: 40 }));
  if (options.links !== false) leaves.push(links);
  const { tree } = fc.letrec<{ tree: Value }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: options.maxDepth ?? 6, depthSize: 'small', withCrossShrink: true },
      { weight: 3, arbitrary: fc.oneof(...leaves) },
      { weight: 1, arbitrary: fc.array(tie('tree'), { maxLength: 4 }) },
      { weight: 2, arbitrary: fc.dictionary(keys, tie('tree'), { maxKeys: 5 }) },
    ),
  }));
  return tree;
}

const wireNames = fc
  .tuple(
    fc.stringMatching(/^[a-z][a-z0-9_.-]{0,7}$/),
    fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,11}$/),
    fc.integer({ min: 1, max: 999_999 }),
  )
  .map(([space, name, version]) => `${space}/${name}@${version}`);

/**
 * Any address of a cell: a wire name and a key of 1 to 256 bytes.
 *
 * @param reducers the reducers to choose from; any wire name when absent
 * @example fc.property(anyAddress(), (address) => parseAddress(formatAddress(address)))
 */
export function anyAddress(reducers?: readonly string[]): fc.Arbitrary<Address> {
  const names = reducers === undefined ? wireNames : fc.constantFrom(...reducers);
  const cellKeys = fc.oneof(
    fc.constantFrom('a', 'b', 'k'.repeat(256), 'é', '/', ' '),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  );
  return fc.tuple(names, cellKeys);
}

/**
 * Any event on the wire: a name and a value.
 *
 * @example fc.property(anyEvent(), ({ name, value }) => WIRE_NAME.test(name))
 */
export function anyEvent(
  options: AnyValueOptions = {},
): fc.Arbitrary<{ readonly name: string; readonly value: Value }> {
  return fc.record({ name: wireNames, value: anyValue(options) });
}

/** The definition of an effect with fitting parameters and a fitting payload. */
interface FittingEffect {
  readonly definition: EffectDefinition<unknown, unknown>;
  readonly params: Value;
  readonly payload: Value;
}

/**
 * Any effect: its definition under any kind and guarantee, with parameters and a payload that fit.
 *
 * @example fc.property(anyEffect(), ({ definition, params }) => scriptedAdapter(definition, []))
 */
export function anyEffect(): fc.Arbitrary<FittingEffect> {
  const kinds = fc
    .tuple(fc.stringMatching(/^[a-z][a-z0-9_]{0,5}(\.[a-z][a-z0-9_]{0,5}){0,2}$/), fc.integer({ min: 1, max: 99 }))
    .map(([name, version]) => `${name}@${version}`);
  const shapes = fc.oneof(
    anyValue().map((params) => ({ schema: value() as z.ZodType, params, payload: params })),
    fc
      .record({ n: fc.integer() })
      .map((params) => ({ schema: z.strictObject({ n: z.int() }), params, payload: params })),
    fc.string().map((text) => ({ schema: z.string(), params: text, payload: text })),
  );
  return fc
    .record({ kind: kinds, shape: shapes, guarantee: fc.constantFrom('idempotent', 'at_most_once', 'reconcile') })
    .map(({ kind, shape: { schema, params, payload }, guarantee }) => ({
      definition: defineEffect({ kind, params: schema, receipt: schema, guarantee: guarantee as 'idempotent' }),
      params,
      payload,
    }));
}

/**
 * Any receipt, as a plan may read it: every status, with and without code, usage and payload.
 *
 * @example fc.property(anyReceipt(), (given) => givenPlan(plan).input({}).when(given))
 */
export function anyReceipt(options: AnyValueOptions = {}): fc.Arbitrary<Receipt> {
  const codes = fc.constantFrom('adapter_error', 'adapter_timeout', 'provider_error_retryable/overloaded' as const);
  const usage = fc.record({ tokens_in: fc.nat(), calls: fc.nat(9) }, { requiredKeys: [] });
  return fc
    .record({
      status: fc.constantFrom(...RECEIPT_STATUSES),
      attempts: fc.nat(3),
      adapter: fc.string({ minLength: 1, maxLength: 12 }),
      payload: anyValue(options),
      code: codes,
      retryable: fc.boolean(),
      usage: fc.option(usage, { nil: undefined }),
    })
    .map(({ payload, code, retryable, usage: used, ...all }) => ({
      ...all,
      ...(used === undefined ? {} : { usage: used }),
      ...(all.status === 'ok' ? { payload } : { code, retryable }),
    }));
}
