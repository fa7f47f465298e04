import { bytes, isRef, Ref, ref, type Value, type ValueMap, value } from '@reprise/contracts';
import fc from 'fast-check';
import * as z from 'zod';

/** A schema of the closed subset, with values that fit it: what zod and we must judge alike. */
export interface Sample {
  readonly schema: z.ZodType;
  readonly fitting: fc.Arbitrary<Value>;
}

type Samples = fc.Arbitrary<Sample>;

const link = Ref.fromHex('ab'.repeat(32));

/** Text that fits `[a-z]*`, and text that does not. */
const words = fc.string({ unit: fc.constantFrom('a', 'b', 'z', 'é', '水', '😀'), maxLength: 5 });
const numbers = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom(0.5, -1.5, 2 ** 53, 2 ** 53 - 1, 1e300));

const bounds = fc.record({ low: fc.integer({ min: -4, max: 4 }), size: fc.nat({ max: 4 }), open: fc.boolean() });

const numberSamples: Samples = fc
  .tuple(bounds, fc.boolean(), fc.boolean())
  .map(([{ low, size, open }, int, bounded]) => {
    const base = int ? z.int() : z.number();
    if (!bounded) return { schema: base, fitting: int ? fc.maxSafeInteger() : numbers };
    const schema = open ? base.gt(low - 1).lt(low + size + 1) : base.min(low).max(low + size);
    return { schema, fitting: fc.integer({ min: low, max: low + size }) };
  });

const textSamples: Samples = fc
  .record({ min: fc.nat({ max: 2 }), max: fc.nat({ max: 5 }), kind: fc.nat({ max: 3 }) })
  .map(({ min, max, kind }) => {
    if (kind === 0) return { schema: z.string(), fitting: words };
    if (kind === 1) return { schema: z.string().min(min).max(max), fitting: words };
    if (kind === 2) return { schema: z.string().length(max), fitting: words };
    return {
      schema: z
        .string()
        .regex(/^[a-z]*$/)
        .regex(/^(?!zz)/),
      fitting: words,
    };
  });

const scalars = fc.constantFrom<null | boolean | number | string>(null, true, false, 0, 1, -1, 1.5, '', 'a', 'b', '1');
const literalSamples: Samples = fc.uniqueArray(scalars, { minLength: 1, maxLength: 4 }).map((values) => ({
  schema: z.literal(values),
  fitting: fc.constantFrom(...values),
}));

const leafSamples: Samples = fc.oneof(
  numberSamples,
  textSamples,
  literalSamples,
  fc.constantFrom<Sample>(
    { schema: z.null(), fitting: fc.constant(null) },
    { schema: z.boolean(), fitting: fc.boolean() },
    { schema: z.never(), fitting: fc.constant(null) },
    { schema: ref(), fitting: fc.constant(link) },
    { schema: bytes(), fitting: fc.uint8Array({ minLength: 1, maxLength: 3 }) },
    { schema: value(), fitting: fc.constantFrom<Value>(null, 1, 'a', [1], { a: 1 }) },
    { schema: z.enum(['a', 'b', 'c']), fitting: fc.constantFrom('a', 'b', 'c') },
  ),
);

const KEYS = ['a', 'b', 'c', '1'];
type Fields = readonly {
  readonly key: string;
  readonly sample: Sample;
  readonly kind: number;
  readonly constant: Value;
}[];

/** Objects whose fields are required, optional in both spellings, or have a default that fits. */
function objectOf(fields: Fields, tag?: readonly [string, string]): Sample {
  const shape: Record<string, z.ZodType> = {};
  const model: Record<string, fc.Arbitrary<Value>> = {};
  const requiredKeys: string[] = [];
  for (const { key, sample, kind, constant } of fields) {
    model[key] = sample.fitting;
    if (kind === 0) requiredKeys.push(key);
    shape[key] = fieldOf(sample, kind, constant);
  }
  if (tag !== undefined) {
    shape[tag[0]] = z.literal(tag[1]);
    model[tag[0]] = fc.constant(tag[1]);
    requiredKeys.push(tag[0]);
  }
  return { schema: z.strictObject(shape), fitting: fc.record(model, { requiredKeys }) };
}

function fieldOf({ schema }: Sample, kind: number, constant: Value): z.ZodType {
  if (kind === 1) return schema.optional();
  if (kind === 2) return z.exactOptional(schema);
  // The default must fit, or the schema is refused; defaults of its own stay out, for zod does not complete them.
  if (kind === 3 && complete(schema, constant)) return schema.default(constant as never).describe('a constant');
  return kind === 4 ? schema.describe('required').meta({ title: 'x' }) : schema;
}

/** Tells whether zod takes a value as it is, adding nothing. */
function complete(schema: z.ZodType, constant: Value): boolean {
  const result = schema.safeParse(constant);
  return result.success && JSON.stringify(result.data) === JSON.stringify(constant);
}

function fieldsOf(samples: Samples): fc.Arbitrary<Fields> {
  const field = samples.chain((sample) =>
    fc.record({
      key: fc.constantFrom(...KEYS),
      sample: fc.constant(sample),
      kind: fc.nat({ max: 4 }),
      constant: fc.oneof(sample.fitting, fc.constantFrom<Value>(null, 0, 'a', [], {})),
    }),
  );
  return fc.uniqueArray(field, { maxLength: 4, selector: ({ key }) => key });
}

function unionsOf(samples: Samples): Samples {
  return fc.array(samples, { minLength: 1, maxLength: 3 }).map((options) => ({
    schema: z.union(options.map(({ schema }) => schema)),
    fitting: fc.oneof(...options.map(({ fitting }) => fitting)),
  }));
}

function taggedOf(samples: Samples): Samples {
  return fc.array(fieldsOf(samples), { minLength: 1, maxLength: 3 }).map((list) => {
    const options = list.map((fields, i) => objectOf(fields, ['t', `t${i}`]));
    const schemas = options.map(({ schema }) => schema as z.ZodObject) as [z.ZodObject, ...z.ZodObject[]];
    return { schema: z.discriminatedUnion('t', schemas), fitting: fc.oneof(...options.map(({ fitting }) => fitting)) };
  });
}

function listsOf(samples: Samples): Samples {
  return fc.tuple(samples, fc.nat({ max: 2 }), fc.nat({ max: 4 })).map(([{ schema, fitting }, min, max]) => ({
    schema: z.array(schema).min(min).max(max),
    fitting: fc.array(fitting, { maxLength: 4 }),
  }));
}

function tuplesOf(samples: Samples): Samples {
  return fc.array(samples, { minLength: 1, maxLength: 3 }).map((items) => ({
    schema: z.tuple(items.map(({ schema }) => schema) as [z.ZodType, ...z.ZodType[]]),
    fitting: fc.tuple(...items.map(({ fitting }) => fitting)),
  }));
}

function recordsOf(samples: Samples): Samples {
  return fc.tuple(samples, fc.nat({ max: 2 })).map(([{ schema, fitting }, kind]) => {
    const some = fc.dictionary(fc.constantFrom(...KEYS), fitting);
    if (kind === 0) return { schema: z.record(z.string().max(1), schema), fitting: some };
    const keys = z.enum(['a', 'b']);
    if (kind === 1) return { schema: z.record(keys, schema), fitting: fc.record({ a: fitting, b: fitting }) };
    return { schema: z.partialRecord(keys, schema), fitting: some };
  });
}

/** Random schemas of the closed subset. */
export const samples: Samples = fc.letrec<{ any: Sample }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: leafSamples },
    { weight: 3, arbitrary: fieldsOf(tie('any')).map((fields) => objectOf(fields)) },
    { weight: 1, arbitrary: listsOf(tie('any')) },
    { weight: 1, arbitrary: tuplesOf(tie('any')) },
    { weight: 1, arbitrary: recordsOf(tie('any')) },
    { weight: 1, arbitrary: unionsOf(tie('any')) },
    { weight: 2, arbitrary: taggedOf(tie('any')) },
    { weight: 1, arbitrary: tie('any').map(({ schema, fitting }) => ({ schema: schema.nullable(), fitting })) },
  ),
})).any;

const noise = fc.oneof(
  numbers,
  words,
  fc.constantFrom<Value>(null, true, [], {}, [null], { a: 1 }, { t: 't0' }, link, Uint8Array.of(1), 't0', 't1'),
);

type Damage = { readonly path: readonly number[]; readonly kind: number; readonly put: Value; readonly key: string };
const damages: fc.Arbitrary<Damage> = fc.record({
  path: fc.array(fc.nat({ max: 5 }), { maxLength: 4 }),
  kind: fc.nat({ max: 2 }),
  put: noise,
  key: fc.constantFrom(...KEYS, 't', 'unknown'),
});

/** Replaces, adds or removes one thing somewhere inside a value. */
function damaged(whole: Value, damage: Damage, depth = 0): Value {
  if (typeof whole !== 'object' || whole === null || whole instanceof Uint8Array || isRef(whole)) return damage.put;
  const step = damage.path[depth];
  if (Array.isArray(whole)) return damagedList(whole, damage, step, depth);
  const map = whole as ValueMap;
  const keys = Object.keys(map);
  const key = step === undefined || keys.length === 0 ? undefined : keys[step % keys.length];
  if (key !== undefined) return { ...map, [key]: damaged(map[key] as Value, damage, depth + 1) };
  if (damage.kind === 0) return damage.put;
  if (damage.kind === 1) return { ...map, [damage.key]: damage.put };
  return Object.fromEntries(Object.entries(map).slice(1));
}

function damagedList(list: readonly Value[], damage: Damage, step: number | undefined, depth: number): Value {
  if (step !== undefined && list.length > 0) {
    return list.with(step % list.length, damaged(list[step % list.length] as Value, damage, depth + 1));
  }
  if (damage.kind === 0) return damage.put;
  return damage.kind === 1 ? [...list, damage.put] : list.slice(1);
}

/** A schema with a value that fits it, nearly fits it, or has nothing to do with it. */
export const cases: fc.Arbitrary<readonly [z.ZodType, Value]> = samples.chain(({ schema, fitting }) => {
  const nearly = fc.tuple(fitting, damages).map(([whole, damage]) => damaged(whole, damage));
  return fc.tuple(
    fc.constant(schema),
    fc.oneof({ weight: 2, arbitrary: fitting }, { weight: 2, arbitrary: nearly }, noise),
  );
});
