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

/** The most values of one answer that are made of JSON: a value takes far more memory than its text. */
export const JSON_ITEMS_MAX = 1_000_000;

/** How deep the JSON of an answer may nest: what reads it goes down by calls. */
export const JSON_DEPTH_MAX = 1_000;

/** Data made of JSON text, and how many values it holds at most. */
export interface BoundedJson {
  readonly data: unknown;
  readonly items: number;
}

/** Text of others as JSON data; undefined when it is none, or nests too deep. What holds too much is not parsed. */
export function parseBounded(text: string): BoundedJson | 'too_large' | undefined {
  const { items, depth } = measure(text);
  if (items > JSON_ITEMS_MAX) return 'too_large';
  const data = depth > JSON_DEPTH_MAX ? undefined : parseJson(text);
  return data === undefined ? undefined : { data, items };
}

/** How many values a JSON text holds at most, and how deep they nest, without making them. */
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
