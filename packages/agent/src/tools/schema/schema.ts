/**
 * The Standard Schema interface, declared here so that the package depends on no schema library. A schema runs outside
 * the journal, once, where the data enters.
 */
import { fieldsOf, lineOfError, RepriseError, shortText, type Value, wellFormed } from '@reprise/contracts';
import { decode, encode } from '@reprise/kernel/codec';

/** A schema of any library that follows the Standard Schema interface. */
export interface Schema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The result of a schema's check. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** A problem with a value, and its path in the value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The output type of a schema. */
export type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

/** A schema of arguments: the same schema, or what the compiler shows for one that takes no object. */
export type ArgsSchema<S extends Schema> = unknown extends NonNullable<S['~standard']['types']>['input']
  ? S
  : [NonNullable<S['~standard']['types']>['input']] extends [readonly unknown[]]
    ? NoArgsSchema
    : [NonNullable<S['~standard']['types']>['input']] extends [object]
      ? S
      : NoArgsSchema;

type NoArgsSchema = 'the args of a tool are an object: z.strictObject({ … })';

/** A checked value, or its problems as text for the sender of the value. */
export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly problems: string;
      /** What the schema threw: it is the schema that has to be corrected. */
      readonly error?: unknown;
    };

/** The longest text about the problems of a value, in UTF-16 units: enough to correct it. */
const PROBLEMS_LENGTH_MAX = 2_000;

/** Checks a value. A schema that throws is reported as a problem, since the value was not checked. */
export async function check(schema: Schema, given: unknown): Promise<Checked> {
  try {
    const result = await schema['~standard'].validate(given);
    if (result.issues === undefined) return { ok: true, value: result.value };
    return { ok: false, problems: shortened(result.issues.map(problem).join('\n')) };
  } catch (error) {
    return { ok: false, problems: shortened(`- the check failed: ${messageOf(error)}`), error };
  }
}

/**
 * Finds the JSON Schema of a schema's input, as canonical data: the same definition gives the same bytes.
 *
 * @param given the JSON Schema, for a library that does not provide it
 * @param where the owner of the schema, for the message
 * @throws RepriseError `invalid_definition`
 */
export function jsonSchemaOf(schema: Schema, where: string, given?: object): Value {
  const { $schema: _, ...rest } = (given ?? told(schema, where)) as Record<string, unknown>;
  try {
    // The codec refuses data without a canonical form, such as undefined.
    return decode(encode(rest as Value));
  } catch (cause) {
    throw untold(where, cause);
  }
}

function told(schema: Schema, where: string): Record<string, unknown> {
  try {
    const standard = schema['~standard'] as Schema['~standard'] & Partial<TellsJsonSchema>;
    if (standard.jsonSchema !== undefined) return standard.jsonSchema.input({ target: 'draft-2020-12' });
    if (standard.vendor === 'zod') return zodsWriter()(schema, { io: 'input' });
  } catch (cause) {
    throw untold(where, cause);
  }
  throw untold(where, undefined);
}

/**
 * Refuses a schema of zod 3, which can neither be written as JSON Schema nor, in its older versions, be asked.
 *
 * @throws RepriseError `invalid_definition`
 */
export function refuseZod3(thing: unknown, where: string): void {
  const { _def, _zod } = fieldsOf(thing);
  if (_zod !== undefined || typeof fieldsOf(_def).typeName !== 'string') return;
  throw new RepriseError('invalid_definition', 'the schema was made by zod 3', {
    where,
    expected: 'a schema of zod 4.6.7 or newer',
    hint: "Install it, npm install zod@^4.6.7, and import from 'zod' itself, not from 'zod/v3'.",
  });
}

type Writer = (schema: Schema, options: { readonly io: 'input' }) => Record<string, unknown>;

/**
 * The writer that zod keeps apart from the schemas of zod/mini. It is loaded when such a schema needs it, and at once,
 * since a definition is not asynchronous: importing zod here would double the time that importing this library takes.
 */
function zodsWriter(): Writer {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: 'node:module'): Modules } };
  const modules = process?.getBuiltinModule?.('node:module');
  if (modules === undefined) throw new Error('zod/mini provides no JSON Schema on this runtime');
  return modules.createRequire(import.meta.url)('zod').toJSONSchema;
}

interface Modules {
  createRequire(from: string): (name: 'zod') => { readonly toJSONSchema: Writer };
}

/** The part of the interface that libraries may leave out. */
interface TellsJsonSchema {
  readonly jsonSchema: { input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown> };
}

function untold(where: string, cause: unknown): RepriseError {
  return new RepriseError('invalid_definition', 'the schema has no JSON Schema for a model', {
    where,
    hint: 'Use objects, text, numbers, booleans, lists and unions and convert inside the handler, or give `jsonSchema`.',
    ...(cause === undefined ? {} : { cause }),
  });
}

function problem({ message, path = [] }: SchemaIssue): string {
  const keys = path.map((step) => String(typeof step === 'object' ? step.key : step));
  return keys.length === 0 ? `- ${message}` : `- ${keys.join('.')}: ${message}`;
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : lineOfError(error);
}

/** A text for a model about a failure, well-formed and not too long. */
export function shortened(text: string): string {
  return wellFormed(shortText(text, PROBLEMS_LENGTH_MAX + 1));
}
