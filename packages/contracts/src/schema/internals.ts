/** The inside of a schema, in the form of zod's: zod's schemas may hold ours, and the kernel compiles both. */
import { addIssues, type Finder, isAborted, type ParseContext, type Payload, type RawIssue } from './issues.js';

/** What every schema carries, zod's and ours: the types of its values, and its definition. */
export interface AnySchema<Output = unknown, Input = unknown> {
  readonly _zod: {
    readonly output: Output;
    readonly input: Input;
    readonly def: { readonly type: string };
  };
}

/** The type of the values that a schema accepts. */
export type output<T> = T extends { _zod: { output: infer O } } ? O : unknown;
/** The same, by the name that zod gives it. */
export type { output as infer };

/** A schema's definition. Its fields depend on its type and are those of zod's definitions. */
export interface Def {
  readonly type: string;
  readonly checks?: readonly Check[];
  readonly error?: (() => string) | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the type says which fields there are; zod's own types are as wide
  readonly [field: string]: any;
}

/** A check of a value whose type is right already. */
export interface Check {
  readonly _zod: {
    readonly def: {
      readonly check: string;
      readonly error?: (() => string) | undefined;
      readonly [field: string]: unknown;
    };
    /** Whether it runs although an earlier check found the value beyond further checks. */
    readonly always: boolean;
    check(payload: Payload): void;
  };
}

/** How a key whose value the schema describes may be absent: not at all, or without or with a substitute. */
type Absence = 'optional' | 'defaulted' | undefined;

/** What zod's schemas ask of a schema that they hold. */
interface Part {
  readonly def: Def;
  readonly optin: Absence;
  readonly optout: 'optional' | undefined;
  readonly values: ReadonlySet<unknown> | undefined;
  readonly propValues: Readonly<Record<string, ReadonlySet<unknown>>> | undefined;
  run(payload: Payload, context: ParseContext): Payload;
}

type Parse = (payload: Payload, context: ParseContext) => Payload;

/** By these zod knows a schema, as a part of its own schemas and for `instanceof`. */
const TRAITS: ReadonlySet<string> = new Set(['$ZodType', 'ZodType']);

/** The inside of one of our schemas. */
export class Internals implements Part {
  readonly traits = TRAITS;
  readonly optin: Absence;
  readonly optout: 'optional' | undefined;
  readonly run: Parse;

  constructor(
    readonly def: Def,
    parse: Parse,
    absence: { readonly optin: Absence; readonly optout: 'optional' | undefined },
  ) {
    this.optin = absence.optin;
    this.optout = absence.optout;
    const { checks } = def;
    const owner = { _zod: this };
    this.run = checks === undefined ? parse : (payload, context) => withChecks(checks, parse(payload, context), owner);
  }

  /** What zod's JSON Schemas need to know besides the checks: whole numbers are a kind of their own, and have no check for it. */
  get bag(): Readonly<Record<string, unknown>> {
    if (this.def.format !== 'safeint') return {};
    return { format: 'safeint', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
  }

  get values(): ReadonlySet<unknown> | undefined {
    return valuesOf(this.def);
  }

  get propValues(): Readonly<Record<string, ReadonlySet<unknown>>> | undefined {
    return propValuesOf(this.def);
  }
}

function withChecks(checks: readonly Check[], payload: Payload, schema: Finder): Payload {
  let aborted = isAborted(payload.issues);
  for (const { _zod } of checks) {
    if (_zod.always) {
      if (payload.issues.some((issue) => issue.continue === false) || !hasLength(payload.value)) continue;
    } else if (aborted) continue;
    const before = payload.issues.length;
    _zod.check(payload);
    for (let i = before; i < payload.issues.length; i++) (payload.issues[i] as RawIssue).schema ??= schema;
    aborted ||= isAborted(payload.issues, before);
  }
  return payload;
}

function hasLength(value: unknown): boolean {
  return value !== null && value !== undefined && (value as { length?: unknown }).length !== undefined;
}

/** Runs a schema on a part of a value. */
export function runPart(schema: AnySchema, value: unknown, context: ParseContext): Payload {
  return part(schema).run({ value, issues: [] }, context);
}

/** The inside of a schema of ours or of zod. */
export function part(schema: AnySchema): Part {
  return schema._zod as unknown as Part;
}

/** The definition of a schema of ours or of zod. */
export function defOf(schema: AnySchema): Def {
  return part(schema).def;
}

/** Runs a schema on a part, and puts its result and its issues in their place in the whole. */
export function runInto(
  schema: AnySchema,
  value: unknown,
  to: Payload,
  step: PropertyKey,
  context: ParseContext,
): void {
  const result = runPart(schema, value, context);
  if (result.issues.length > 0) addIssues(to, step, result.issues);
  (to.value as Record<PropertyKey, unknown>)[step] = result.value;
}

/** Refuses a value of another type. */
export function mistyped(payload: Payload, expected: string, inst: Finder): Payload {
  payload.issues.push({ expected, code: 'invalid_type', input: payload.value, inst });
  return payload;
}

/** The values that a schema accepts, when they can be listed. */
function valuesOf(def: Def): ReadonlySet<unknown> | undefined {
  switch (def.type) {
    case 'literal':
      return new Set(def.values);
    case 'enum':
      return new Set(Object.values(def.entries));
    case 'null':
      return new Set([null]);
    case 'undefined':
      return new Set([undefined]);
    case 'nullable':
      return withValue(part(def.innerType).values, null);
    case 'optional':
      return def.exact === true ? part(def.innerType).values : withValue(part(def.innerType).values, undefined);
    case 'default':
    case 'readonly':
      return part(def.innerType).values;
    case 'union':
      return valuesOfAll(def.options);
    default:
      return undefined;
  }
}

function withValue(values: ReadonlySet<unknown> | undefined, value: unknown): ReadonlySet<unknown> | undefined {
  return values === undefined ? undefined : new Set([...values, value]);
}

function valuesOfAll(options: readonly AnySchema[]): ReadonlySet<unknown> | undefined {
  const all = new Set<unknown>();
  for (const option of options) {
    const { values } = part(option);
    if (values === undefined) return undefined;
    for (const value of values) all.add(value);
  }
  return all;
}

/** The values that the fields of an object can have, for the choice among objects. */
function propValuesOf(def: Def): Readonly<Record<string, ReadonlySet<unknown>>> | undefined {
  const found: Record<string, Set<unknown>> = {};
  const add = (key: string, values: Iterable<unknown>) => {
    const known = Object.hasOwn(found, key) ? (found[key] as Set<unknown>) : new Set<unknown>();
    for (const value of values) known.add(value);
    found[key] = known;
  };
  if (def.type === 'object') {
    for (const [key, field] of Object.entries<AnySchema>(def.shape)) {
      const { values, optin } = part(field);
      if (values !== undefined) add(key, optin === undefined ? values : [...values, undefined]);
    }
    return found;
  }
  if (def.type !== 'union' || def.discriminator === undefined) return undefined;
  for (const option of def.options as readonly AnySchema[]) {
    for (const [key, values] of Object.entries(part(option).propValues ?? {})) add(key, values);
  }
  return found;
}
