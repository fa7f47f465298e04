/** Schemas of values without parts. */

import { type Check, mistyped } from './internals.js';
import type { Payload } from './issues.js';
import { BuiltSchema, checkOf, told } from './schema.js';
import { isKeyText, isTextFrom, isTextWithin } from './text-length.js';

/** Schemas of text and of lists: both have a length. */
export class Sized<Output, Input = Output> extends BuiltSchema<Output, Input> {
  min(minimum: number, message?: string): this {
    return this.with(lengthCheck('min', minimum, message));
  }

  max(maximum: number, message?: string): this {
    return this.with(lengthCheck('max', maximum, message));
  }
}

function lengthCheck(side: 'min' | 'max', limit: number, message: string | undefined): Check {
  const [check, field, code] =
    side === 'min'
      ? (['min_length', 'minimum', 'too_small'] as const)
      : (['max_length', 'maximum', 'too_big'] as const);
  const run = (payload: Payload, inst: Check) => {
    const input = payload.value as string | readonly unknown[];
    if (side === 'min' ? isFrom(input, limit) : isWithin(input, limit)) return;
    const origin = typeof input === 'string' ? 'string' : Array.isArray(input) ? 'array' : 'unknown';
    payload.issues.push({ origin, code, [field]: limit, inclusive: true, input, inst, continue: true });
  };
  return checkOf({ check, [field]: limit }, message, run, true);
}

function isFrom(input: string | readonly unknown[], min: number): boolean {
  return typeof input === 'string' ? isTextFrom(input, min) : input.length >= min;
}

function isWithin(input: string | readonly unknown[], max: number): boolean {
  return typeof input === 'string' ? isTextWithin(input, max) : input.length <= max;
}

/** Text, with the checks that only text has. */
export class Text<Output extends string = string> extends Sized<Output> {
  protected override read(payload: Payload): Payload {
    return typeof payload.value === 'string' ? payload : mistyped(payload, 'string', this);
  }

  regex(pattern: RegExp, message?: string): this {
    const def = { check: 'string_format', format: 'regex', pattern };
    return this.#format(def, message, (text) => pattern.test(text), { format: 'regex' }, { pattern: String(pattern) });
  }

  /** The text can be a key: well-formed, and of 1 to so many bytes in UTF-8. Zod has no such check. */
  key(bytesMax: number, message?: string): this {
    const about = { format: 'key', bytesMax };
    const def = { check: 'key_bytes', bytesMax };
    return this.#format(def, message, (text) => isKeyText(text, bytesMax), about);
  }

  includes(part: string, message?: string): this {
    const about = { format: 'includes', includes: part };
    return this.#format({ check: 'string_format', ...about }, message, (text) => text.includes(part), about);
  }

  startsWith(prefix: string, message?: string): this {
    const about = { format: 'starts_with', prefix };
    return this.#format({ check: 'string_format', ...about }, message, (text) => text.startsWith(prefix), about);
  }

  #format(
    def: { readonly check: string },
    message: string | undefined,
    fits: (text: string) => boolean,
    about: object,
    more: object = {},
  ): this {
    return this.with(
      checkOf(def, message, (payload, inst) => {
        const input = payload.value as string;
        if (fits(input)) return;
        payload.issues.push({
          origin: 'string',
          code: 'invalid_format',
          ...about,
          input,
          ...more,
          inst,
          continue: true,
        });
      }),
    );
  }
}

/** Accepts text, whatever its length. */
export function string(message?: string): Text {
  return new Text({ type: 'string', ...told(message) });
}

/** Accepts text of a form that a type can name. */
export function matching<T extends string>(pattern: RegExp, message?: string): Text<T> {
  return new Text<T>({ type: 'string' }).regex(pattern, message);
}

/** A schema of finite numbers, with its bounds. */
export class Num extends BuiltSchema<number> {
  protected override read(payload: Payload): Payload {
    const input = payload.value;
    if (typeof input !== 'number') return mistyped(payload, 'number', this);
    if (!Number.isFinite(input)) {
      payload.issues.push({ expected: 'number', code: 'invalid_type', input, inst: this, received: String(input) });
      return payload;
    }
    return this._zod.def.format === undefined ? payload : this.#readInt(payload, input);
  }

  #readInt(payload: Payload, input: number): Payload {
    if (!Number.isInteger(input)) {
      const about = { expected: 'int', format: 'safeint' };
      payload.issues.push({ ...about, code: 'invalid_type', continue: false, input, inst: this });
    } else if (!Number.isSafeInteger(input)) {
      const [code, limit] =
        input > 0
          ? (['too_big', { maximum: Number.MAX_SAFE_INTEGER }] as const)
          : (['too_small', { minimum: Number.MIN_SAFE_INTEGER }] as const);
      const note = 'Integers must be within the safe integer range.';
      payload.issues.push({ input, code, ...limit, note, inst: this, origin: 'int', inclusive: true, continue: true });
    }
    return payload;
  }

  min(value: number, message?: string): this {
    return this.#bound('greater_than', value, message);
  }

  max(value: number, message?: string): this {
    return this.#bound('less_than', value, message);
  }

  gt(value: number, message?: string): this {
    return this.#bound('greater_than', value, message, false);
  }

  #bound(check: 'greater_than' | 'less_than', limit: number, message: string | undefined, inclusive = true): this {
    const lower = check === 'greater_than';
    const about = lower ? { code: 'too_small', minimum: limit } : { code: 'too_big', maximum: limit };
    return this.with(
      checkOf({ check, value: limit, inclusive }, message, (payload, inst) => {
        const input = payload.value as number;
        if (lower ? input > limit : input < limit) return;
        if (inclusive && input === limit) return;
        payload.issues.push({ origin: 'number', ...about, input, inclusive, inst, continue: true });
      }),
    );
  }
}

/** Accepts numbers except NaN and the infinities. */
export function number(message?: string): Num {
  return new Num({ type: 'number', ...told(message) });
}

/** Accepts whole numbers within ±(2^53 − 1). */
export function int(message?: string): Num {
  return new Num({ type: 'number', check: 'number_format', abort: false, format: 'safeint', ...told(message) });
}

class Bool extends BuiltSchema<boolean> {
  protected override read(payload: Payload): Payload {
    return typeof payload.value === 'boolean' ? payload : mistyped(payload, 'boolean', this);
  }
}

/** Accepts `true` and `false`, and no text for them. */
function boolean_(): BuiltSchema<boolean> {
  return new Bool({ type: 'boolean' });
}

class Single extends BuiltSchema<unknown> {
  protected override read(payload: Payload): Payload {
    const { type } = this._zod.def;
    return payload.value === (type === 'null' ? null : undefined) ? payload : mistyped(payload, type, this);
  }
}

/** Accepts null, and not a missing field. */
function null_(): BuiltSchema<null> {
  return new Single({ type: 'null' }) as never;
}

/** Accepts undefined, such as a missing field. */
function undefined_(message?: string): BuiltSchema<undefined> {
  return new Single({ type: 'undefined', ...told(message) }) as never;
}

/** Accepts everything, and keeps it as it is. */
export function unknown(): BuiltSchema<unknown> {
  return new BuiltSchema({ type: 'unknown' });
}

class Never extends BuiltSchema<never> {
  protected override read(payload: Payload): Payload {
    return mistyped(payload, 'never', this);
  }
}

/** Accepts nothing: the rest of a strict object. */
export function never(): BuiltSchema<never> {
  return new Never({ type: 'never' });
}

/** A closed list of values. */
export class Listed<T> extends BuiltSchema<T> {
  readonly #values: readonly unknown[] = listedIn(this._zod.def);

  protected override read(payload: Payload): Payload {
    const values = this.#values;
    if (!values.includes(payload.value)) {
      payload.issues.push({ code: 'invalid_value', values, input: payload.value, inst: this });
    }
    return payload;
  }

  /** The value, of a list of one. */
  get value(): T {
    return this.#values[0] as T;
  }

  get options(): readonly T[] {
    return this.#values as readonly T[];
  }
}

function listedIn(def: { readonly type: string; readonly [field: string]: unknown }): readonly unknown[] {
  return def.type === 'enum' ? Object.values(def.entries as object) : (def.values as readonly unknown[]);
}

/** What a literal can be. */
type Constant = string | number | boolean | null | undefined;

/** Accepts one value, or one of a list. */
export function literal<const T extends Constant>(value: T | readonly T[], message?: string): Listed<T> {
  const values = Array.isArray(value) ? value : [value];
  return new Listed<T>({ type: 'literal', values, ...told(message) });
}

/** Accepts one of some texts. */
function enum_<const T extends string>(values: readonly T[], message?: string): Listed<T> {
  const entries = Object.fromEntries(values.map((value) => [value, value]));
  return new Listed<T>({ type: 'enum', entries, ...told(message) });
}

export { boolean_ as boolean, enum_ as enum, null_ as null, undefined_ as undefined };
