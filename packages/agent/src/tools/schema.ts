/**
 * What a schema library has to offer: the Standard Schema interface, stated here so that no library is named. A schema
 * checks outside the journal, once, where the data enters.
 */
import { RepriseError, shortText, type Value, wellFormed } from '@reprise/contracts';
import { decode, encode } from '@reprise/kernel';
import * as z from 'zod';

/** A schema of any library that follows the Standard Schema interface. */
export interface Schema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a schema says of a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** What is wrong with a value, and where in it. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema makes of what it is given. */
export type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

/** A checked value, or what is wrong with it as text for whoever gave it. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problems: string };

/** The longest text about what is wrong with a value, in UTF-16 units: enough to fix it. */
export const PROBLEMS_LENGTH_MAX = 2_000;

/** Checks a value. A schema that throws is a problem of the value as well: nobody can tell that it fits. */
export async function check(schema: Schema, given: unknown): Promise<Checked> {
  try {
    const result = await schema['~standard'].validate(given);
    if (result.issues === undefined) return { ok: true, value: result.value };
    return { ok: false, problems: shortened(result.issues.map(problem).join('\n')) };
  } catch (error) {
    return { ok: false, problems: shortened(`- the check failed: ${messageOf(error)}`) };
  }
}

/**
 * The JSON Schema of what a schema takes, as canonical data: the same definition gives the same bytes.
 *
 * @param given the JSON Schema, for a library that cannot tell it
 * @param where what the schema belongs to, for the message
 * @throws RepriseError `invalid_definition`
 */
export function jsonSchemaOf(schema: Schema, where: string, given?: object): Value {
  const { $schema: _, ...rest } = (given ?? told(schema, where)) as Record<string, unknown>;
  try {
    // Through the codec: no undefined, and a refusal of whatever has no canonical form.
    return decode(encode(rest as Value));
  } catch (cause) {
    throw untold(where, cause);
  }
}

function told(schema: Schema, where: string): Record<string, unknown> {
  try {
    const standard = schema['~standard'] as Schema['~standard'] & Partial<TellsJsonSchema>;
    if (standard.jsonSchema !== undefined) return standard.jsonSchema.input({ target: 'draft-2020-12' });
    if (standard.vendor === 'zod') return z.toJSONSchema(schema as unknown as z.ZodType, { io: 'input' });
  } catch (cause) {
    throw untold(where, cause);
  }
  throw untold(where, undefined);
}

/** The part of the interface that libraries may leave out. */
interface TellsJsonSchema {
  readonly jsonSchema: { input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown> };
}

function untold(where: string, cause: unknown): RepriseError {
  return new RepriseError('invalid_definition', 'the schema cannot be told to a model as JSON Schema', {
    where,
    hint: 'Use objects, text, numbers, booleans, lists and unions and convert inside the handler, or give `jsonSchema`.',
    ...(cause === undefined ? {} : { cause }),
  });
}

function problem({ message, path = [] }: SchemaIssue): string {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return keys.length === 0 ? `- ${message}` : `- ${keys.join('.')}: ${message}`;
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Text that a model reads about what went wrong, well-formed and not too long. */
export function shortened(text: string): string {
  return wellFormed(shortText(text, PROBLEMS_LENGTH_MAX + 1));
}
