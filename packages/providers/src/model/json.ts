/** Canonical values as JSON, for models and for wires. */
import { isRef, type Value } from '@reprise/contracts';
import { exactJsonText, LargeNumber, parseExactJson, parseJson } from '@reprise/contracts/json';
import { toHex } from '@reprise/kernel/codec';

/** A value that JSON can represent. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A value as JSON data: links as `sha256:…`, bytes as hex, because JSON has neither. */
export function toJson(value: Value): Json {
  if (typeof value !== 'object' || value === null) return value as Json;
  if (Array.isArray(value)) return value.map(toJson);
  if (isRef(value)) return value.toString();
  if (value instanceof Uint8Array) return toHex(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item as Value)]));
}

/** A value as JSON text; equal values give equal texts. */
export function jsonText(value: Value): string {
  return JSON.stringify(toJson(value));
}

/** Whether data is JSON data throughout. */
export function isJson(data: unknown): data is Json {
  if (data === null || typeof data === 'string' || typeof data === 'boolean') return true;
  if (typeof data === 'number') return Number.isFinite(data);
  if (Array.isArray(data)) return data.every(isJson);
  return (
    typeof data === 'object' && Object.getPrototypeOf(data) === Object.prototype && Object.values(data).every(isJson)
  );
}

/** Whether data is a JSON object. */
export function isJsonObject(data: unknown): data is { readonly [key: string]: Json } {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return false;
  return !(data instanceof Uint8Array || data instanceof LargeNumber);
}

/** Parses JSON text; undefined when the text is not JSON. */
export function jsonIn(text: string): unknown {
  return orUndefined(() => parseJson(text));
}

/** Whether two texts are equal, or are equal as JSON, with every digit of their numbers. */
export function sameJson(one: string, other: string): boolean {
  if (one === other) return true;
  const [first, second] = [one, other].map((text) => orUndefined(() => exactJsonText(parseExactJson(text))));
  return first !== undefined && first === second;
}

function orUndefined(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** The most values that are parsed from one answer: a value takes far more memory than its text. */
export const JSON_ITEMS_MAX = 1_000_000;

/** The deepest nesting of JSON in an answer: its readers are recursive. */
export const JSON_DEPTH_MAX = 1_000;

/** Parsed JSON, each large number a `LargeNumber`, and an upper bound on how many values it holds. */
interface BoundedJson {
  readonly data: unknown;
  readonly items: number;
}

/** Parses JSON text from outside; undefined when it is not JSON or nests too deep, `too_large` without parsing it. */
export function parseBounded(text: string): BoundedJson | 'too_large' | undefined {
  const { items, depth } = measure(text);
  if (items > JSON_ITEMS_MAX) return 'too_large';
  const data = depth > JSON_DEPTH_MAX ? undefined : orUndefined(() => parseExactJson(text));
  return data === undefined ? undefined : { data, items };
}

/** Whether a text nests deeper than the readers of answers go. */
export function nestsTooDeep(text: string): boolean {
  return measure(text).depth > JSON_DEPTH_MAX;
}

/** Counts the values of a JSON text (an upper bound) and their depth, without parsing it. */
function measure(text: string): { readonly items: number; readonly depth: number } {
  let items = 1;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // a string: its content is one value
        at = stringEnd(text, at);
        break;
      case 0x5b:
      case 0x7b:
        items++;
        deepest = Math.max(deepest, ++depth);
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
      case 0x2c:
        items++;
        break;
    }
  }
  return { items, depth: deepest };
}

function stringEnd(text: string, from: number): number {
  let at = from + 1;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x5c) at++;
    else if (unit === 0x22) return at;
  }
  return at;
}
