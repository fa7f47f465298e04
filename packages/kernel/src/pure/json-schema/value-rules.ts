/** Keywords about a value itself: its type, what it equals, numbers and texts. */
import { lengthOfText } from '@reprise/contracts';
import type { Budget } from './budget.js';
import type { Rule } from './check-run.js';
import { isMap, keyOf } from './equal.js';
import type { FormatCheck } from './formats.js';
import type { LinearPattern } from './pattern.js';

/** The types of JSON Schema. */
export const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'] as const;

/** A type of JSON Schema. */
export type JsonType = (typeof TYPES)[number];

/** The type of a value; undefined for a type that JSON does not have. */
function typeOf(value: unknown): JsonType | undefined {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (isMap(value)) return 'object';
  const type = typeof value;
  return type === 'boolean' || type === 'number' || type === 'string' ? type : undefined;
}

export function typeRule(types: readonly JsonType[]): Rule {
  return (value, run) => {
    const type = typeOf(value);
    const fits = types.some((one) => one === type || (one === 'integer' && Number.isInteger(value)));
    return fits || run.problem(`expected ${types.join(' or ')}, got ${type ?? typeof value}`);
  };
}

/** `enum` and `const`: equal to one of some values. */
export function equalRule(values: readonly unknown[], unlimited: Budget): Rule {
  const keys = new Set(values.map((value) => keyOf(value, unlimited)));
  const shown = [...keys].slice(0, 20).join(', ').slice(0, 400);
  return (value, run) =>
    keys.has(keyOf(value, run.budget)) ||
    run.problem(keys.size === 1 ? `expected ${shown}` : `expected one of ${shown}`);
}

/** A rule that holds for whatever is not a number. */
export function numberRule(fits: (value: number) => boolean, message: string): Rule {
  return (value, run) => typeof value !== 'number' || fits(value) || run.problem(message);
}

/** Whether a number is a multiple of another, as decimal fractions are meant. */
export function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  if (!Number.isFinite(times)) return Number.isInteger(value) && Number.isInteger(1 / of);
  const whole = Math.round(times);
  return whole === times || (whole !== 0 && Math.abs(whole - times) <= 4 * Number.EPSILON * Math.abs(times));
}

/** `minLength` and `maxLength`, in code points. */
export function lengthRule(fits: (length: number) => boolean, message: string): Rule {
  return (value, run) => typeof value !== 'string' || fits(lengthOf(value, run.budget)) || run.problem(message);
}

function lengthOf(text: string, budget: Budget): number {
  budget.spend(text.length / 8);
  return lengthOfText(text);
}

export function patternRule(pattern: LinearPattern, source: string): Rule {
  return (value, run) =>
    typeof value !== 'string' ||
    pattern.matches(value, run.budget) ||
    run.problem(`does not match the pattern ${source.slice(0, 200)}`);
}

export function formatRule(check: FormatCheck, name: string): Rule {
  return (value, run) => typeof value !== 'string' || check(value, run.budget) || run.problem(`is not a valid ${name}`);
}
