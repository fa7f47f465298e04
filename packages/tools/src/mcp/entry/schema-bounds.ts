/**
 * Removes bounds of a schema that no number reaches: schemas made from 64-bit integers name 9223372036854775807, which
 * the parser keeps as text, and which a schema may not hold as text. All numbers that are passed on lie within such
 * bounds, so nothing else is accepted without them.
 */
import type { Value } from '@reprise/contracts';

const UPPER = ['maximum', 'exclusiveMaximum'];
const LOWER = ['minimum', 'exclusiveMinimum'];

/** A large number that was kept as text. */
const LARGE = /^(-?)\d{1,400}(?:\.\d+)?(?:[eE]\+?\d+)?$/;

/** The schema without these bounds, at every depth. */
export function withoutUnreachableBounds(schema: Value): Value {
  if (Array.isArray(schema)) return schema.map(withoutUnreachableBounds);
  if (typeof schema !== 'object' || schema === null || schema instanceof Uint8Array) return schema;
  const kept = Object.entries(schema).filter(([keyword, bound]) => !isUnreachable(keyword, bound));
  return Object.fromEntries(kept.map(([keyword, part]) => [keyword, withoutUnreachableBounds(part as Value)]));
}

function isUnreachable(keyword: string, bound: unknown): boolean {
  const sign = typeof bound === 'string' ? LARGE.exec(bound)?.[1] : undefined;
  return (sign === '' && UPPER.includes(keyword)) || (sign === '-' && LOWER.includes(keyword));
}
