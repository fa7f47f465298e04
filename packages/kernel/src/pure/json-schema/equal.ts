/** Equality of JSON values, as `enum`, `const` and `uniqueItems` ask for it. */
import { type Budget, CHECK_DEPTH_MAX, TooDeep } from './budget.js';

/** A map of JSON: no list, no bytes, nothing of a class. */
export type JsonMap = Readonly<Record<string, unknown>>;

/** Whether a value is a map. */
export function isMap(value: unknown): value is JsonMap {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * A text that two values share exactly when they are equal: keys in order, 1 and 1.0 alike.
 *
 * @throws OutOfSteps, TooDeep
 */
export function keyOf(value: unknown, budget: Budget, depth = 0): string {
  budget.spend(1);
  if (depth > CHECK_DEPTH_MAX) throw new TooDeep();
  if (typeof value === 'string') {
    budget.spend(value.length / 8);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => keyOf(item, budget, depth + 1)).join(',')}]`;
  if (!isMap(value)) return String(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${keyOf(value[key], budget, depth + 1)}`).join(',')}}`;
}
