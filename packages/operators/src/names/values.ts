/** Values of a world in one line. */
import { isRef, isRepriseError, type Value } from '@reprise/contracts';
import type { ContentReader } from '@reprise/kernel';
import { getValue } from '@reprise/kernel/store';

/** A value as JSON with sorted keys; of a link, what it leads to. Content that is gone is said to be. */
export async function textOfValue(content: ContentReader, value: Value): Promise<string> {
  if (!isRef(value)) return jsonOf(value);
  try {
    return jsonOf(await getValue(content, value));
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return '(erased)';
    if (isRepriseError(error, 'blob_missing')) return '(missing)';
    if (isRepriseError(error, 'invalid_bytes')) return '(bytes)';
    throw error;
  }
}

function jsonOf(value: Value): string {
  if (isRef(value)) return `"sha256:${value.hex.slice(0, 12)}…"`;
  if (value instanceof Uint8Array) return `"${value.length} bytes"`;
  if (Array.isArray(value)) return `[${(value as readonly Value[]).map(jsonOf).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value as Readonly<Record<string, Value>>).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${jsonOf(item)}`).join(',')}}`;
}

/** A field of a value; undefined without one. */
export function fieldOf(value: Value | undefined, name: string): Value | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, Value>>)[name];
}
