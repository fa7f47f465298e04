import type { Value } from '@reprise/contracts';
import { encode, equalBytes } from '@reprise/kernel';

/**
 * Compares the actual with the expected results, name by name, in canonical bytes: key order, `undefined` keys and −0
 * never matter, everything else does. A name without an expectation is not compared.
 *
 * @throws Error naming the first difference, with both values
 */
export function expectOutcome(what: string, expected: object, actual: object): void {
  if (typeof expected === 'function') throw new TypeError('`then` needs the expected results; do not await a `when`');
  for (const [name, wanted] of Object.entries(expected)) {
    if (wanted === undefined) continue;
    const found = (actual as Record<string, unknown>)[name];
    if (sameBytes(wanted, found)) continue;
    throw new Error(`${what}: ${name}\n  expected ${show(wanted)}\n  got      ${show(found)}`);
  }
}

function sameBytes(wanted: unknown, found: unknown): boolean {
  if (wanted === undefined || found === undefined) return wanted === found;
  return equalBytes(encode(wanted), encode(found));
}

/** A value as readable text; links as `sha256:…`. */
export function show(value: unknown): string {
  return value === undefined
    ? 'nothing'
    : JSON.stringify(value, (_, part: Value) => (part instanceof Uint8Array ? [...part] : part));
}
