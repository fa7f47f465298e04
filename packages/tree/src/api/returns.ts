/** The result type of a tree or node, as an app states it. */
import { check, jsonSchemaOf, type Schema, schemaRefusal } from '@reprise/agent';
import { type Ref, RepriseError, type Value } from '@reprise/contracts';
import { type ContentStore, encode, putValue } from '@reprise/kernel';
import { RESULT_SCHEMA_BYTES_MAX } from '../pure/contracts/bounds.js';
import { RESULT_TYPES, type ResultType } from '../pure/index.js';

/** A type by its name, or any Standard Schema of a text, a boolean, a list or an object. */
export type TreeReturns<R> = ResultType | Schema<R>;

/**
 * The recorded type of a result.
 *
 * @throws RepriseError `invalid_argument`, `invalid_definition` for a schema without a JSON Schema
 */
export async function recordedReturns(
  content: ContentStore,
  returns: TreeReturns<unknown> | undefined,
  where: string,
): Promise<{ readonly returns: ResultType; readonly schema_ref: Ref | null }> {
  if (returns === undefined || typeof returns === 'string')
    return { returns: namedType(returns ?? 'text', where), schema_ref: null };
  const schema = jsonSchemaOf(returns, where);
  const type = typeOf(schema, where);
  const refused = schemaRefusal(schema);
  if (refused !== undefined) throw unusable(where, 'a schema that can be checked', refused);
  const { length } = encode(schema);
  if (length > RESULT_SCHEMA_BYTES_MAX)
    throw unusable(where, `a JSON Schema of at most ${RESULT_SCHEMA_BYTES_MAX} bytes`, length);
  return { returns: type, schema_ref: await putValue(content, schema) };
}

export async function recordedSchema(content: ContentStore, schema: Value, where: string): Promise<Ref> {
  const refused = schemaRefusal(schema);
  if (refused !== undefined) throw unusable(where, 'a JSON Schema that can be checked', refused);
  return putValue(content, schema);
}

/**
 * Checks a result by the schema of the app, which may ask for more than its JSON Schema says.
 *
 * @throws RepriseError `invalid_value`
 */
export async function readBy<R>(schema: Schema<R>, value: Value, where: string): Promise<R> {
  const fits = await check(schema, value);
  if (fits.ok) return fits.value as R;
  throw new RepriseError('invalid_value', 'the result does not fit the schema that the app states now', {
    where,
    actual: fits.problems,
  });
}

const TYPES: Readonly<Record<string, ResultType>> = {
  string: 'text',
  boolean: 'boolean',
  array: 'list',
  object: 'structured',
};

function namedType(name: string, where: string): ResultType {
  const found = RESULT_TYPES.find((type) => type === name);
  if (found !== undefined) return found;
  throw new RepriseError('invalid_argument', 'unknown type of a result', {
    where,
    expected: RESULT_TYPES.join(', '),
    actual: name,
  });
}

/** The type of a JSON Schema; one that names none is of an object, such as a union of objects. */
function typeOf(schema: Value, where: string): ResultType {
  const { type = 'object' } = schema as { readonly type?: unknown };
  const found = typeof type === 'string' ? TYPES[type] : undefined;
  if (found === undefined) throw unusable(where, 'a schema of a text, a boolean, a list or an object', type);
  return found;
}

function unusable(where: string, expected: string, actual: unknown): RepriseError {
  return new RepriseError('invalid_argument', 'this schema cannot be the type of a result', {
    where,
    expected,
    actual,
    hint: 'Put the value into an object, such as z.strictObject({ count: z.int() }).',
  });
}
