/** Values of a request as JSON: links as `sha256:…`, bytes by their size. */
import { isRef, type Value } from '@reprise/contracts';

/** A value as JSON data. Bytes stand as their number: an image is named by its digest beside them. */
export function jsonOf(value: Value | undefined): unknown {
  if (isRef(value)) return value.toString();
  if (value instanceof Uint8Array) return value.length;
  if (Array.isArray(value)) return (value as readonly Value[]).map(jsonOf);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as Readonly<Record<string, Value | undefined>>);
  return Object.fromEntries(
    fields.filter(([, field]) => field !== undefined).map(([key, field]) => [key, jsonOf(field)]),
  );
}
