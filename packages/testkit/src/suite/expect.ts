/** The few assertions of the suites, without a runner or a `node:` module, so that they run wherever a store does. */
import { type ErrorCode, isRepriseError } from '@reprise/contracts';

/** Fails with a sentence unless a condition is true. */
export function expectThat(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new Error(otherwise);
}

/** Fails unless two values have the same JSON. For heads, frames without their bytes, lists of names. */
export function expectSame(actual: unknown, expected: unknown, what: string): void {
  const [found, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  expectThat(found === wanted, `${what}: expected ${wanted}, got ${found}`);
}

/** Fails unless two byte strings are equal. */
export function expectSameBytes(actual: Uint8Array | undefined, expected: Uint8Array, what: string): void {
  expectThat(actual instanceof Uint8Array, `${what}: expected ${expected.length} bytes, got ${actual}`);
  expectThat(actual.length === expected.length, `${what}: expected ${expected.length} bytes, got ${actual.length}`);
  const at = actual.findIndex((byte, i) => byte !== expected[i]);
  expectThat(at < 0, `${what}: byte ${at} is ${actual[at]} instead of ${expected[at]}`);
}

/** Fails unless a call rejects with a code. */
export async function expectRefusal(code: ErrorCode, what: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    expectThat(isRepriseError(error, code), `${what}: expected ${code}, got ${String(error)}`);
    return;
  }
  throw new Error(`${what}: expected ${code}, but it was accepted`);
}

/** Collects all items of a stream. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
