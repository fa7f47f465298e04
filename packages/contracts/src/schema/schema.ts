/** The schema itself: checking a value, and the schemas that wrap another. */
import { type AnySchema, type Check, type Def, Internals, part, runPart } from './internals.js';
import { type FoundIssue, finished, isAborted, type ParseContext, type Payload, SchemaError } from './issues.js';

/** What came of a value: the value as the schema reads it, or what is wrong with it. */
type SafeParsed<T> =
  | { readonly success: true; readonly data: T; readonly error?: undefined }
  | { readonly success: false; readonly data?: undefined; readonly error: SchemaError };

/** The interface that schema libraries share. */
interface Standard<T> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (
    value: unknown,
  ) => { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly FoundIssue[] };
  readonly types?: { readonly input: unknown; readonly output: T };
}

/** What a check in code reports problems to. */
export interface RefineContext {
  /** @param issue a sentence, and the path in the value; the value itself when absent */
  addIssue(issue: { readonly message: string; readonly path?: readonly PropertyKey[] }): void;
}

/** A schema whose key an object may lack. */
export interface Absent<T extends AnySchema> extends BuiltSchema<Out<T>, In<T>> {
  readonly _zod: BuiltSchema<Out<T>, In<T>>['_zod'] & { readonly optin: 'optional'; readonly optout: 'optional' };
}

/** A schema whose key the input may lack; the result has it. */
export interface Defaulted<T extends AnySchema> extends BuiltSchema<Out<T>, In<T> | undefined> {
  readonly _zod: BuiltSchema<Out<T>, In<T> | undefined>['_zod'] & { readonly optin: 'defaulted' };
}

/** The values that a schema gives. */
export type Out<T extends AnySchema> = T['_zod']['output'];
/** The values that a schema takes. */
export type In<T extends AnySchema> = T['_zod']['input'];

const REQUIRED = { optin: undefined, optout: undefined } as const;
const DEFAULTED = { optin: 'defaulted', optout: undefined } as const;

/** A schema. Its inside has the form of zod's. */
export class BuiltSchema<Output = unknown, Input = Output> implements AnySchema<Output, Input> {
  declare readonly _zod: Internals & AnySchema<Output, Input>['_zod'];

  /** @param absence how a key with this schema may be absent; by default not at all */
  constructor(def: Def, absence: Pick<Internals, 'optin' | 'optout'> = REQUIRED) {
    const internals = new Internals(def, (payload, context) => this.read(payload, context), absence);
    Object.defineProperty(this, '_zod', { value: internals });
  }

  get def(): Def {
    return this._zod.def;
  }

  /** Reads a value: leaves it, replaces it, or adds issues. */
  protected read(payload: Payload, _context: ParseContext): Payload {
    return payload;
  }

  safeParse(value: unknown): SafeParsed<Output> {
    const payload = this._zod.run({ value, issues: [] }, { async: false });
    if (payload.issues.length === 0) return { success: true, data: payload.value as Output };
    return new Refused(payload) as SafeParsed<Output>;
  }

  /**
   * Checks a value.
   *
   * @throws SchemaError
   */
  parse(value: unknown): Output {
    const parsed = this.safeParse(value);
    if (parsed.success) return parsed.data;
    throw parsed.error;
  }

  /** The interface that libraries share. */
  get '~standard'(): Standard<Output> {
    return { version: 1, vendor: 'reprise', validate: (value) => standardResult(this.safeParse(value)) };
  }

  /** The same schema with other parts of its definition. */
  like(parts: Partial<Def>): this {
    const make = this.constructor as new (def: Def, absence: Pick<Internals, 'optin' | 'optout'>) => this;
    return new make({ ...this.def, ...parts }, this._zod);
  }

  /** The same schema with one more check. */
  with(check: Check): this {
    return this.like({ checks: [...(this.def.checks ?? []), check] });
  }

  /** The same schema with a check in code. The kernel refuses it in what is journaled. */
  refine(fits: (value: Output) => unknown, message?: string): this {
    return this.with(
      checkOf({ check: 'custom', fn: fits }, message, (payload, inst) => {
        if (fits(payload.value as Output)) return;
        payload.issues.push({ code: 'custom', input: payload.value, inst, path: [], continue: true });
      }),
    );
  }

  /** The same schema, and further issues from code. */
  superRefine(find: (value: Output, context: RefineContext) => void): this {
    return this.with(
      checkOf({ check: 'custom', fn: find }, undefined, (payload, inst) => {
        const addIssue: RefineContext['addIssue'] = ({ message, path = [] }) =>
          payload.issues.push({ code: 'custom', message, path: [...path], input: payload.value, inst, continue: true });
        find(payload.value as Output, { addIssue });
      }),
    );
  }

  optional(): Absent<BuiltSchema<Output | undefined, Input | undefined>> {
    return new Optional({ type: 'optional', innerType: this }, absenceOf(this)) as never;
  }

  nullable(): BuiltSchema<Output | null, Input | null> {
    return nullable(this);
  }

  nullish(): Absent<BuiltSchema<Output | null | undefined, Input | null | undefined>> {
    return this.nullable().optional() as never;
  }

  default(value: Output): Defaulted<BuiltSchema<Output, Input>> {
    return new Default({ type: 'default', innerType: this, defaultValue: value }, DEFAULTED) as never;
  }

  exactOptional(): Absent<this> {
    return exactOptional(this);
  }

  or<T extends AnySchema>(other: T): Choice<readonly [this, T]> {
    return union([this, other]);
  }

  /** The same schema with a description. It leaves no trace in what is journaled. */
  describe(description: string): this {
    return this.meta({ description });
  }

  /** The same schema with notes in its definition, `def.meta`. They leave no trace in what is journaled. */
  meta(about: object): this {
    return this.like({ meta: { ...this.def.meta, ...about } });
  }

  brand(): this {
    return this;
  }

  readonly(): BuiltSchema<Readonly<Output>, Input> {
    return new Wrapper({ type: 'readonly', innerType: this }, part(this)) as never;
  }
}

/** A refusal; its error is made when it is wanted, since an error costs more than the whole check. */
class Refused {
  readonly success = false;
  readonly #payload: Payload;
  #error: SchemaError | undefined;

  constructor(payload: Payload) {
    this.#payload = payload;
  }

  get error(): SchemaError {
    this.#error ??= new SchemaError(this.#payload.issues.map(finished));
    return this.#error;
  }
}

function standardResult<T>(parsed: SafeParsed<T>) {
  return parsed.success ? { value: parsed.data } : { issues: parsed.error.issues };
}

/** Makes a check from its definition. */
export function checkOf(
  def: { readonly check: string; readonly [field: string]: unknown },
  message: string | undefined,
  run: (payload: Payload, inst: Check) => void,
  always = false,
): Check {
  const check: Check = { _zod: { def: { ...def, ...told(message) }, always, check: (payload) => run(payload, check) } };
  return check;
}

/** The field of a definition that replaces the sentence of an issue. */
export function told(message: string | undefined): { error?: () => string } {
  return message === undefined ? {} : { error: () => message };
}

/** A schema around another, which it leaves to check. */
class Wrapper extends BuiltSchema {
  protected override read(payload: Payload, context: ParseContext): Payload {
    return part(this._zod.def.innerType).run(payload, context);
  }
}

class Optional extends Wrapper {
  protected override read(payload: Payload, context: ParseContext): Payload {
    const substitutes = part(this._zod.def.innerType).optin === 'defaulted';
    return payload.value === undefined && !substitutes ? payload : super.read(payload, context);
  }
}

/** A key may be absent; what substitutes a value for it goes on doing so. */
function absenceOf(inner: AnySchema) {
  return { optin: part(inner).optin === 'defaulted' ? 'defaulted' : 'optional', optout: 'optional' } as const;
}

class Nullable extends Wrapper {
  protected override read(payload: Payload, context: ParseContext): Payload {
    return payload.value === null ? payload : super.read(payload, context);
  }
}

class Default extends Wrapper {
  protected override read(payload: Payload, context: ParseContext): Payload {
    if (payload.value !== undefined) return super.read(payload, context);
    payload.value = this._zod.def.defaultValue;
    return payload;
  }
}

/** A schema that also takes null. */
export type OrNull<T extends AnySchema> = BuiltSchema<Out<T> | null, In<T> | null>;

/** Accepts null and whatever the schema accepts. */
export function nullable<T extends AnySchema>(inner: T): OrNull<T> {
  return new Nullable({ type: 'nullable', innerType: inner }, part(inner)) as never;
}

/** The key may be absent; where it is present, it has a value. */
export function exactOptional<T extends AnySchema>(inner: T): Absent<T> {
  return new Wrapper({ type: 'optional', innerType: inner, exact: true }, absenceOf(inner)) as never;
}

/** Accepts what a function accepts. */
export class Custom<T> extends BuiltSchema<T> {
  protected override read(payload: Payload): Payload {
    const { fn } = this._zod.def;
    if (fn !== undefined && !fn(payload.value))
      payload.issues.push({ code: 'custom', input: payload.value, inst: this, path: [], continue: false });
    return payload;
  }
}

/** Accepts what a function accepts; everything, without one. The kernel refuses it in what is journaled. */
export function custom<T>(fits?: (value: unknown) => boolean, message?: string): BuiltSchema<T> {
  return new Custom({
    type: 'custom',
    check: 'custom',
    fn: fits ?? (() => true),
    abort: true,
    ...told(message),
  }) as never;
}

/** Checks the options of a choice in order; the first that fits is taken. */
class Union<T extends Options> extends BuiltSchema<Out<T[number]>, In<T[number]>> {
  protected override read(payload: Payload, context: ParseContext): Payload {
    const options: readonly AnySchema[] = this._zod.def.options;
    if (options.length === 1) return part(options[0] as AnySchema).run(payload, context);
    const results: Payload[] = [];
    for (const option of options) {
      const result = runPart(option, payload.value, context);
      if (result.issues.length === 0) return result;
      results.push(result);
    }
    // An option whose checks alone failed was meant: its issues say more than that none fits.
    const meant = results.filter(({ issues }) => !isAborted(issues));
    if (meant.length === 1) {
      const [only] = meant as [Payload];
      payload.value = only.value;
      payload.issues.push(...only.issues);
      return payload;
    }
    const errors = results.map(({ issues }) => issues.map(finished));
    payload.issues.push({ code: 'invalid_union', input: payload.value, inst: this, errors });
    return payload;
  }
}

export type Options = readonly AnySchema[];

/** A choice, with its options at hand for another choice. */
export class Choice<T extends Options> extends Union<T> {
  get options(): T {
    return this._zod.def.options;
  }
}

/** Accepts what one of the options accepts. */
export function union<const T extends Options>(options: T, message?: string): Choice<T> {
  const parts = options.map(part);
  const optin = parts.some((one) => one.optin === 'defaulted') ? 'defaulted' : parts.find((one) => one.optin)?.optin;
  const optout = parts.find((one) => one.optout)?.optout;
  return new Choice<T>({ type: 'union', options, ...told(message) }, { optin, optout });
}
