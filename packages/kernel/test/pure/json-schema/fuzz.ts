/**
 * Hostile schemas and values for the checker, in a process of its own, so that memory and time are bounded from outside:
 *
 *   node --max-old-space-size=192 --import tsx --conditions=@reprise/source packages/kernel/test/pure/json-schema/fuzz.ts --inputs 400
 *
 * Prints one line of JSON: inputs, how many were refused and given up, the longest check and the largest heap.
 */
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { cpuMs } from '../../../../../scripts/lib/cpu.js';
import { checker } from '../../../src/pure/json-schema/index.js';

const { values } = parseArgs({
  options: { inputs: { type: 'string', default: '400' }, seed: { type: 'string', default: '20260101' } },
});

const repeated = fc.constantFrom('*', '+', '{1,50}', '{0,400}', '?', '{3,}', '{1000}', '{20}{20}');
const hostilePattern = fc
  .tuple(
    fc.constantFrom(
      '(a+)',
      '(a|aa)',
      '(.*a)',
      '((a*)*b?)',
      '(?:a?a?)',
      '(?=(a+)+)',
      '(?<!(a|b)*)',
      '[^b]',
      '(\\w|a)',
      '(a|'.repeat(60),
    ),
    repeated,
    repeated,
    fc.constantFrom('$', '', '!$', '\\1', ')', '(?=.*(a+)+$)'),
  )
  .map(([first, one, other, end]) => `^((${first}${one})${other})${end}`);

const hostileSchema: fc.Arbitrary<unknown> = fc.oneof(
  hostilePattern.map((pattern) => ({ additionalProperties: { pattern } })),
  hostilePattern.map((pattern) => ({ patternProperties: { [pattern]: false } })),
  hostilePattern.map((pattern) => ({ propertyNames: { pattern }, unevaluatedProperties: { pattern } })),
  fc
    .constantFrom('email', 'uri', 'uri-reference', 'ipv6', 'hostname', 'date-time', 'duration', 'json-pointer', 'regex')
    .map((format) => ({ additionalProperties: { format } })),
  fc
    .tuple(fc.integer({ min: 2, max: 60 }), fc.constantFrom('allOf', 'anyOf', 'oneOf'))
    .map(([depth, how]) => doubling(depth, how)),
  fc.integer({ min: 1, max: 2_000 }).map((depth) => chain(depth)),
  fc.integer({ min: 1, max: 5_000 }).map((depth) => nested(depth)),
  fc.integer({ min: 1, max: 60_000 }).map((length) => ({ enum: Array.from({ length }, (_, n) => ({ n })) })),
  fc.constant({ additionalProperties: { $ref: '#' }, items: { $ref: '#' } }),
  fc.constant({ uniqueItems: true, additionalProperties: { uniqueItems: true } }),
  fc.constant({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $dynamicRef: '#/$defs/a' } } }),
);

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  fc
    .tuple(fc.constantFrom('a', 'ab', 'a.', 'a@', '0:', '%', '/', '😀', '('), fc.integer({ min: 1, max: 200_000 }))
    .map(([text, times]) => ({ [text.repeat(Math.min(times, 5_000))]: 1, x: `${text.repeat(times)}!` })),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => nested(depth)),
  fc.integer({ min: 1, max: 100_000 }).map((length) => ({ x: Array.from({ length }, (_, n) => [n % 7]) })),
);

const inputs = Number(values.inputs);
const found = { inputs, refused: 0, givenUp: 0, longestCpuMs: 0, heapMiB: 0, worst: '' };
for (let n = 0; n < inputs; n++) {
  // One at a time: what is kept of those before would count as memory of the checker.
  const [input] = fc.sample(fc.tuple(hostileSchema, hostileValue), { numRuns: 1, seed: Number(values.seed) + n });
  const [schema, value] = input ?? [true, null];
  const before = cpuMs();
  const made = checker(schema);
  const verdict = made.ok ? made.check(value) : undefined;
  const ms = cpuMs() - before;
  if (verdict === undefined) found.refused++;
  else if (!verdict.ok && verdict.givenUp !== undefined) found.givenUp++;
  if (ms > found.longestCpuMs) [found.longestCpuMs, found.worst] = [ms, JSON.stringify(schema).slice(0, 120)];
  found.heapMiB = Math.max(found.heapMiB, process.memoryUsage().heapUsed / 2 ** 20);
}
console.log(JSON.stringify(found));

function doubling(depth: number, how: string): unknown {
  const $defs: Record<string, unknown> = { [`d${depth}`]: {} };
  for (let n = 0; n < depth; n++) {
    $defs[`d${n}`] = { [how]: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] };
  }
  return { $ref: '#/$defs/d0', $defs };
}

function chain(length: number): unknown {
  const $defs: Record<string, unknown> = { [`d${length}`]: { type: 'null' } };
  for (let n = 0; n < length; n++) $defs[`d${n}`] = { $ref: `#/$defs/d${n + 1}` };
  return { $ref: '#/$defs/d0', $defs };
}

function nested(depth: number): unknown {
  let schema: unknown = { type: 'null' };
  for (let n = 0; n < depth; n++) schema = { items: schema };
  return schema;
}
