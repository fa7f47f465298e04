/**
 * Checks data that was read from JSON with a schema: what happens to numbers that no JavaScript number holds.
 *
 * Such a number stands in the data as the text of its digits. Where the schema takes only text, there is one reading and
 * the text is passed on. Where the schema takes a number as well, the digits would be a value that nobody sent, so the
 * data is refused with the digits.
 */
import type { LargeNumberAt, ParsedJson } from '@reprise/contracts/json';
import { type Checked, check, type Schema, shortened } from './schema.js';

/** Checks data that was read from JSON. */
export async function checkRead(schema: Schema, { data, count, large }: ParsedJson): Promise<Checked> {
  const checked = await check(schema, data);
  if (count === 0) return checked;
  const problems = large.map(problemOf);
  if (count > large.length) problems.push(`- ${count - large.length} more numbers are too large`);
  if (!checked.ok) return refused([checked.problems, ...problems]);
  return count > large.length || (await takesNumbers(schema, data, large)) ? refused(problems) : checked;
}

/** What is wrong with numbers that came as numbers and cannot be passed on. */
export function largeNumberProblems(large: readonly LargeNumberAt[]): string {
  return large.map(problemOf).join('\n');
}

function problemOf({ path, digits }: LargeNumberAt): string {
  const where = path.length === 0 ? '' : `${path.join('.')}: `;
  return `- ${where}the number ${digits} is beyond ±9007199254740991 and cannot be passed on exactly; where the schema takes text, send its digits as text`;
}

function refused(problems: readonly string[]): Checked {
  return { ok: false, problems: shortened(problems.join('\n')) };
}

/** Whether the schema takes a number in one of these places, or in all of them together. */
async function takesNumbers(schema: Schema, data: unknown, large: readonly LargeNumberAt[]): Promise<boolean> {
  for (const probe of PROBES) {
    const all = large.reduce((changed, at) => replaced(changed, at.path, probe(at.digits)), data);
    if ((await check(schema, all)).ok) return true;
    for (const { path, digits } of large) {
      if ((await check(schema, replaced(data, path, probe(digits)))).ok) return true;
    }
  }
  return false;
}

/** Numbers that a schema of numbers may take: the nearest double, the nearest safe integer, and a small one. */
const PROBES: readonly ((digits: string) => number)[] = [
  (digits) => clamped(Number(digits), Number.MAX_VALUE),
  (digits) => clamped(Number(digits), Number.MAX_SAFE_INTEGER),
  () => 1,
];

function clamped(number: number, most: number): number {
  return Math.min(most, Math.max(-most, number));
}

/** The data with another value at a place. */
function replaced(data: unknown, [key, ...rest]: LargeNumberAt['path'], value: number): unknown {
  if (key === undefined) return value;
  const inner = (data as Readonly<Record<string | number, unknown>>)[key];
  if (Array.isArray(data)) return data.with(Number(key), replaced(inner, rest, value));
  return Object.fromEntries(
    Object.entries(data as object).map(([name, part]) => [name, name === key ? replaced(part, rest, value) : part]),
  );
}
