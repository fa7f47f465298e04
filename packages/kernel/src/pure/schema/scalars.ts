import type { Value } from '@reprise/contracts';
import type { $ZodCheck, $ZodChecks, $ZodNumberDef, $ZodStringDef } from 'zod/v4/core';
import { compareBytes } from '../codec/bytes.js';
import { encode } from '../codec/encode.js';
import type { SchemaNode } from './node.js';
import type { Place } from './refusal.js';
import { refuseSchema } from './refusal.js';

type TextNode = Extract<SchemaNode, { type: 'text' }>;
type NumberNode = Extract<SchemaNode, { type: 'number' }>;
type Bounds = { min?: number; max?: number; above?: number; below?: number };
type CheckDef = $ZodChecks['_zod']['def'];

/** The definitions of the checks of a schema. */
export function checksOf(def: { checks?: $ZodCheck<never>[] | undefined }): readonly CheckDef[] {
  return (def.checks ?? []).map((check) => check._zod.def as CheckDef);
}

/** Refuses checks on a kind of schema without checks. */
export function noChecks(def: { checks?: $ZodCheck<never>[] | undefined }, place: Place): void {
  for (const check of checksOf(def)) refuseCheck(check, place);
}

/** Refuses one check, with its effect and the replacement. */
export function refuseCheck(check: CheckDef, place: Place): never {
  if (check.check === 'overwrite') {
    refuseSchema(place, 'a check changes the value', 'Trim and map case before the value is sent.');
  }
  const name: string = check.check; // zod leaves `custom` out of its union of checks
  if (name === 'custom') {
    refuseSchema(place, 'a check runs code', 'Check in the reducer and reject: code has no identity in a schema.');
  }
  const format = 'format' in check && typeof check.format === 'string' ? ` ${check.format}` : '';
  refuseSchema(place, `the check ${name}${format} is not part of journaled schemas`, 'Use bounds, or a regex.');
}

/** Compiles text: bounds in characters, of keys in bytes, patterns without flags. */
export function compileText(def: $ZodStringDef, place: Place): TextNode {
  if (def.coerce) refuseSchema(place, 'coercion changes the value', 'Use string() and send text.');
  if ('format' in def) {
    const hint = 'Formats change with releases of zod: use string().regex(…) without flags.';
    refuseSchema(place, `the text format ${String(def.format)} is not part of journaled schemas`, hint);
  }
  const bounds: Bounds = {};
  const patterns: string[] = [];
  let key: number | undefined;
  for (const check of checksOf(def)) {
    if (narrowLength(bounds, check, place)) continue;
    const bytesMax = keyBytesOf(check);
    if (bytesMax !== undefined) {
      key = Math.min(key ?? bytesMax, bytesMax);
      continue;
    }
    if (check.check !== 'string_format' || check.format !== 'regex') refuseCheck(check, place);
    patterns.push(plainPattern(check.pattern, place));
  }
  return {
    type: 'text',
    ...bounds,
    ...(key === undefined ? {} : { key }),
    ...(patterns.length > 0 ? { patterns } : {}),
  };
}

/** The most bytes of a text that is a key: a check of our own, which zod's union of checks leaves out. */
function keyBytesOf(check: CheckDef): number | undefined {
  const name: string = check.check;
  return name === 'key_bytes' && 'bytesMax' in check && typeof check.bytesMax === 'number' ? check.bytesMax : undefined;
}

/** Splits off escapes, so that `\\p` is recognized as a backslash and a letter, and inline flags. */
const PATTERN_TOKENS = /\\[\s\S]|\(\?[a-z-]+:/g;

function plainPattern(pattern: RegExp | undefined, place: Place): string {
  if (pattern === undefined) refuseSchema(place, 'a text check has no pattern', 'Use string().regex(…).');
  if (pattern.flags !== '') {
    refuseSchema(
      place,
      `a regex has the flags ${pattern.flags}`,
      'Write classes such as [A-Za-z] and [\\s\\S] instead.',
    );
  }
  for (const [token] of pattern.source.matchAll(PATTERN_TOKENS)) {
    if (token !== '\\p' && token !== '\\P' && !token.startsWith('(')) continue;
    refuseSchema(place, `a regex has ${token}`, 'Write the characters out: engines differ in their Unicode tables.');
  }
  return pattern.source;
}

/** Applies a bound of length; false for any other check. */
export function narrowLength(bounds: { min?: number; max?: number }, check: CheckDef, place: Place): boolean {
  if (check.check === 'min_length') raise(bounds, 'min', check.minimum, place);
  else if (check.check === 'max_length') lower(bounds, 'max', check.maximum, place);
  else if (check.check === 'length_equals') {
    raise(bounds, 'min', check.length, place);
    lower(bounds, 'max', check.length, place);
  } else return false;
  return true;
}

/** Compiles a number: its bounds, and whether it is a safe integer. */
export function compileNumber(def: $ZodNumberDef, place: Place): NumberNode {
  if (def.coerce) refuseSchema(place, 'coercion changes the value', 'Use number() or int() and send a number.');
  const bounds: Bounds = {};
  let int = false;
  if ('format' in def) int = narrowFormat(bounds, String(def.format), place) || int;
  for (const check of checksOf(def)) {
    if ('when' in check && check.when !== undefined) refuseSchema(place, 'a check runs code', 'Leave `when` out.');
    if (check.check === 'number_format') int = narrowFormat(bounds, check.format, place) || int;
    else if (check.check === 'greater_than') raise(bounds, check.inclusive ? 'min' : 'above', check.value, place);
    else if (check.check === 'less_than') lower(bounds, check.inclusive ? 'max' : 'below', check.value, place);
    else refuseCheck(check, place);
  }
  return { type: 'number', int, ...bounds };
}

/** Applies a number format; true for one of integers. */
function narrowFormat(bounds: Bounds, format: string, place: Place): boolean {
  switch (format) {
    case 'safeint':
      return true;
    case 'int32':
      raise(bounds, 'min', -0x8000_0000, place);
      lower(bounds, 'max', 0x7fff_ffff, place);
      return true;
    case 'uint32':
      raise(bounds, 'min', 0, place);
      lower(bounds, 'max', 0xffff_ffff, place);
      return true;
    default:
      return refuseSchema(
        place,
        `the number format ${format} is not part of journaled schemas`,
        'Use number() or int().',
      );
  }
}

function raise(bounds: Bounds, side: 'min' | 'above', to: unknown, place: Place): void {
  const limit = finite(to, place);
  const so = bounds[side];
  bounds[side] = so === undefined ? limit : Math.max(so, limit);
}

function lower(bounds: Bounds, side: 'max' | 'below', to: unknown, place: Place): void {
  const limit = finite(to, place);
  const so = bounds[side];
  bounds[side] = so === undefined ? limit : Math.min(so, limit);
}

function finite(limit: unknown, place: Place): number {
  if (typeof limit === 'number' && Number.isFinite(limit)) return limit;
  return refuseSchema(place, 'a bound is not a finite number', 'Leave the bound out when no bound is wanted.');
}

/** Compiles literals and enums. Their order has no meaning, so they are sorted: two spellings have one identity. */
export function compileLiteral(values: Iterable<unknown>, place: Place): SchemaNode {
  const found: Value[] = [];
  for (const value of values) {
    if (!isScalar(value))
      refuseSchema(place, `a literal is ${typeof value}`, 'Literals are text, numbers, booleans, null.');
    found.push(value);
  }
  const keyed = found.map((value) => ({ value, bytes: encode(value) }));
  keyed.sort((a, b) => compareBytes(a.bytes, b.bytes));
  return { type: 'literal', values: keyed.map((entry) => entry.value) };
}

function isScalar(value: unknown): value is null | boolean | number | string {
  if (typeof value === 'number') return Number.isFinite(value);
  return value === null || typeof value === 'boolean' || typeof value === 'string';
}
