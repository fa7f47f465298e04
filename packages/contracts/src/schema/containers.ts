/** Schemas of values with parts. */

import { type AnySchema, type Def, mistyped, part, runInto, runPart } from './internals.js';
import { addIssues, finished, type ParseContext, type Payload } from './issues.js';
import { never, Sized, unknown } from './scalars.js';
import { BuiltSchema, Choice, type In, type Options, type Out, told } from './schema.js';

const LENGTH_CHECKS: readonly string[] = ['min_length', 'max_length'];

/** Lists whose items have one schema. */
export class List<T extends AnySchema> extends Sized<Out<T>[], In<T>[]> {
  protected override read(payload: Payload, context: ParseContext): Payload {
    const input = payload.value;
    if (!Array.isArray(input)) return mistyped(payload, 'array', this);
    if (this.#isTooLong(payload, input.length)) return payload;
    payload.value = new Array(input.length);
    for (let i = 0; i < input.length; i++) runInto(this.element, input[i], payload, i, context);
    return payload;
  }

  /** Refuses a list that is too long before its items are read. */
  #isTooLong(payload: Payload, length: number): boolean {
    for (const { _zod } of this._zod.def.checks ?? []) {
      if (!LENGTH_CHECKS.includes(_zod.def.check)) return false;
      if (_zod.def.check !== 'max_length' || length <= (_zod.def.maximum as number)) continue;
      _zod.check(payload);
      for (const issue of payload.issues) {
        issue.schema ??= this;
        issue.continue = false;
      }
      return true;
    }
    return false;
  }

  /** The schema of an item. */
  get element(): T {
    return this._zod.def.element;
  }
}

/** Accepts a list of items. */
export function array<T extends AnySchema>(element: T, message?: string): List<T> {
  return new List<T>({ type: 'array', element, ...told(message) });
}

type TupleOut<T extends Options> = { -readonly [K in keyof T]: Out<T[K]> };
type TupleIn<T extends Options> = { -readonly [K in keyof T]: In<T[K]> };

class Tuple extends BuiltSchema {
  protected override read(payload: Payload, context: ParseContext): Payload {
    const items: Options = this._zod.def.items;
    const input = payload.value;
    if (!Array.isArray(input)) {
      payload.issues.push({ input, inst: this, expected: 'tuple', code: 'invalid_type' });
      return payload;
    }
    payload.value = [];
    const about = { inclusive: true, input, inst: this, origin: 'array' };
    if (input.length < items.length) {
      payload.issues.push({ code: 'too_small', minimum: items.length, ...about });
      return payload;
    }
    if (input.length > items.length) payload.issues.push({ code: 'too_big', maximum: items.length, ...about });
    for (const [i, item] of items.entries()) runInto(item, input[i], payload, i, context);
    return payload;
  }
}

/** Accepts a list of exactly these items, all of which are there. */
export function tuple<const T extends Options>(items: T): BuiltSchema<TupleOut<T>, TupleIn<T>> {
  return new Tuple({ type: 'tuple', items, rest: null }) as never;
}

class Record_ extends BuiltSchema {
  protected override read(payload: Payload, context: ParseContext): Payload {
    const { keyType, valueType } = this._zod.def;
    const input = payload.value;
    if (!isPlainObject(input)) return mistyped(payload, 'record', this);
    payload.value = {};
    const listed: ReadonlySet<unknown> | undefined = part(keyType).values;
    if (listed !== undefined) {
      for (const key of listed as ReadonlySet<string>) runInto(valueType, input[key], payload, key, context);
      unrecognized(
        payload,
        this,
        input,
        Object.keys(input).filter((key) => !listed.has(key)),
      );
      return payload;
    }
    for (const key of Object.keys(input)) {
      if (key === '__proto__') continue;
      const { issues } = runPart(keyType, key, context);
      if (issues.length === 0) runInto(valueType, input[key], payload, key, context);
      else this.#refuseKey(payload, key, issues);
    }
    return payload;
  }

  #refuseKey(payload: Payload, key: string, found: Payload['issues']): void {
    const issues = found.map(finished);
    payload.issues.push({ code: 'invalid_key', origin: 'record', issues, input: key, path: [key], inst: this });
  }
}

/** Accepts a map from keys to values. With a list of keys it has all of them. */
export function record<K extends AnySchema<string>, V extends AnySchema>(
  key: K,
  value: V,
  message?: string,
): BuiltSchema<Record<Out<K>, Out<V>>, Record<Out<K>, In<V>>> {
  return new Record_({ type: 'record', keyType: key, valueType: value, ...told(message) }) as never;
}

/** The fields of an object. */
export type Shape = Readonly<Record<string, AnySchema>>;

type OptionalKeys<S, Side extends 'optin' | 'optout'> = {
  [K in keyof S]: S[K] extends {
    _zod: { readonly [side in Side]: 'optional' | (Side extends 'optin' ? 'defaulted' : never) };
  }
    ? K
    : never;
}[keyof S];
type Flat<T> = { [K in keyof T]: T[K] } & {};

/** The values that an object's fields give. */
type ShapeOut<S extends Shape> = Flat<
  { -readonly [K in Exclude<keyof S, OptionalKeys<S, 'optout'>>]: Out<S[K]> } & {
    -readonly [K in OptionalKeys<S, 'optout'>]?: Out<S[K]>;
  }
>;
/** The values that an object's fields take. */
type ShapeIn<S extends Shape> = Flat<
  { -readonly [K in Exclude<keyof S, OptionalKeys<S, 'optin'>>]: In<S[K]> } & {
    -readonly [K in OptionalKeys<S, 'optin'>]?: In<S[K]>;
  }
>;

/** What an object has beside its fields: nothing, or anything. */
type Loose = Record<string, unknown>;
type Strict = Record<never, never>;

/** The schema of an object: known fields, and what others are. */
export class Obj<S extends Shape = Shape, Rest = Strict> extends BuiltSchema<
  Flat<ShapeOut<S> & Rest>,
  Flat<ShapeIn<S> & Rest>
> {
  #fields: readonly (readonly [string, AnySchema])[] | undefined;

  protected override read(payload: Payload, context: ParseContext): Payload {
    const input = payload.value;
    if (!isObject(input)) return mistyped(payload, 'object', this);
    payload.value = {};
    this.#fields ??= Object.entries(this.shape);
    for (const [key, field] of this.#fields) readField(payload, input, key, field, context);
    const catchall: AnySchema | undefined = this._zod.def.catchall;
    if (catchall === undefined) return payload;
    const more = Object.keys(input).filter((key) => !Object.hasOwn(this.shape, key));
    if (part(catchall).def.type === 'never') unrecognized(payload, this, input, more);
    else for (const key of more) if (key !== '__proto__') runInto(catchall, input[key], payload, key, context);
    return payload;
  }

  get shape(): S {
    return this._zod.def.shape;
  }

  /** The same object with further fields. */
  extend<const T extends Shape>(fields: T): Obj<Flat<Omit<S, keyof T> & T>, Rest> {
    return this.#of({ ...this.shape, ...fields });
  }

  /** The same object without some fields. */
  omit<const M extends { readonly [K in keyof S]?: true }>(mask: M): Obj<Flat<Omit<S, keyof M>>, Rest> {
    return this.#of(Object.fromEntries(Object.entries(this.shape).filter(([key]) => !Object.hasOwn(mask, key))));
  }

  /** The same object with only some fields. */
  pick<const M extends { readonly [K in keyof S]?: true }>(mask: M): Obj<Flat<Pick<S, keyof M & keyof S>>, Rest> {
    return this.#of(Object.fromEntries(Object.entries(this.shape).filter(([key]) => Object.hasOwn(mask, key))));
  }

  /** The same object, all of whose fields may be absent. */
  partial(): BuiltSchema<Partial<Flat<ShapeOut<S> & Rest>>, Partial<Flat<ShapeIn<S> & Rest>>> {
    const fields = Object.entries(this.shape).map(([key, field]) => [key, optionalOf(field)]);
    return this.#of(Object.fromEntries(fields)) as never;
  }

  #of(shape: Shape): never {
    const { checks: _, ...def } = this._zod.def;
    return new Obj({ ...def, type: 'object', shape }) as never;
  }
}

/** Reads a field; an optional field that is absent leaves no trace, whatever its schema makes of nothing. */
function readField(to: Payload, input: Loose, key: string, field: AnySchema, context: ParseContext): void {
  if (key === '__proto__') return;
  const { optin, optout } = part(field);
  const present = key in input;
  if (!present && optin === 'optional' && optout === 'optional') return;
  const result = runPart(field, input[key], context);
  if (result.issues.length > 0) {
    if (!present && optin !== undefined && optout === 'optional') return;
    addIssues(to, key, result.issues);
  }
  if (!present && optin === undefined) {
    if (result.issues.length === 0) {
      to.issues.push({ code: 'invalid_type', expected: 'nonoptional', input: undefined, path: [key] });
    }
    return;
  }
  if (result.value !== undefined) (to.value as Loose)[key] = result.value;
  else if (present || (optin === 'defaulted' && optout !== 'optional')) (to.value as Loose)[key] = undefined;
}

function optionalOf(field: AnySchema): AnySchema {
  return (field as BuiltSchema).optional();
}

/** Reports keys that an object does not know. The check of the object itself still runs. */
function unrecognized(payload: Payload, inst: BuiltSchema, input: unknown, keys: readonly string[]): void {
  if (keys.length === 0) return;
  payload.issues.push({ code: 'unrecognized_keys', keys, input, inst, continue: true });
}

/** Accepts an object with exactly these fields. */
export function strictObject<const S extends Shape>(shape: S, message?: string): Obj<S> {
  return new Obj<S>({ type: 'object', shape: { ...shape }, catchall: never(), ...told(message) });
}

/** Accepts an object with these fields and any others, which it keeps. */
export function looseObject<const S extends Shape>(shape: S, message?: string): Obj<S, Loose> {
  return new Obj<S, Loose>({ type: 'object', shape: { ...shape }, catchall: unknown(), ...told(message) });
}

/** Accepts an object with these fields and any others, which it drops. */
export function object<const S extends Shape>(shape: S, message?: string): Obj<S> {
  return new Obj<S>({ type: 'object', shape: { ...shape }, ...told(message) });
}

class Discriminated<T extends Options> extends Choice<T> {
  #byTag: ReadonlyMap<unknown, AnySchema> | undefined;

  protected override read(payload: Payload, context: ParseContext): Payload {
    const { discriminator } = this._zod.def;
    const input = payload.value;
    if (!isObject(input)) {
      payload.issues.push({ code: 'invalid_type', expected: 'object', input, inst: this });
      return payload;
    }
    this.#byTag ??= byTag(this._zod.def);
    const option = this.#byTag.get(input[discriminator]);
    if (option !== undefined) return part(option).run(payload, context);
    const note = 'No matching discriminator';
    const about = { errors: [], note, discriminator, options: [...this.#byTag.keys()] };
    payload.issues.push({ code: 'invalid_union', ...about, input, path: [discriminator], inst: this });
    return payload;
  }
}

function byTag({ options, discriminator }: Def): ReadonlyMap<unknown, AnySchema> {
  const map = new Map<unknown, AnySchema>();
  for (const option of options as Options) {
    for (const tag of part(option).propValues?.[discriminator] ?? []) map.set(tag, option);
  }
  return map;
}

/** Accepts what the option accepts that has the value's tag. */
export function discriminatedUnion<const T extends Options>(
  discriminator: string,
  options: T,
  message?: string,
): Choice<T> {
  return new Discriminated<T>({ type: 'union', options, discriminator, inclusive: false, ...told(message) });
}

function isObject(thing: unknown): thing is Loose {
  return typeof thing === 'object' && thing !== null && !Array.isArray(thing);
}

/** Maps, and not objects of classes whose prototype lacks what every object has. */
function isPlainObject(thing: unknown): thing is Loose {
  if (!isObject(thing)) return false;
  const made = thing.constructor;
  if (typeof made !== 'function') return true;
  return isObject(made.prototype) && Object.hasOwn(made.prototype, 'isPrototypeOf');
}
