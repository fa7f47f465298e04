/** Canonical values as JSON, for what a model reads and a wire carries. */
import { isRef, type Value } from '@reprise/contracts';
import { toHex } from '@reprise/kernel';

/** A value that JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A value as JSON data: links as `sha256:…`, bytes as hex, since JSON knows neither. */
export function toJson(value: Value): Json {
  if (isRef(value)) return value.toString();
  if (value instanceof Uint8Array) return toHex(value);
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toJson(item as Value)]));
}

/** A value as JSON text, the same text each time. */
export function jsonText(value: Value): string {
  return JSON.stringify(toJson(value));
}

/** Whether data is a JSON object. */
export function isJsonObject(data: unknown): data is { readonly [key: string]: Json } {
  return typeof data === 'object' && data !== null && !Array.isArray(data) && !(data instanceof Uint8Array);
}

/** Text as JSON data; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
