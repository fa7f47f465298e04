import { isRepriseError } from '@reprise/contracts';
import { expect } from 'vitest';
import { expectDocumented } from '../../../support/judge.js';

/** Values that a caller may pass in the place of others. */
export const JUNK: readonly (readonly [string, unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['true', true],
  ['zero', 0],
  ['one', 1],
  ['a fraction', 1.5],
  ['below zero', -1],
  ['NaN', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['beyond integers', 2 ** 60],
  ['a bigint', BigInt(1)],
  ['no text', ''],
  ['text', 'text'],
  ['a lone surrogate', '\ud800'],
  ['a NUL', '\0'],
  ['long text', 'x'.repeat(100_000)],
  ['a path', '../../etc/passwd'],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['a symbol', Symbol('junk')],
  ['no list', []],
  ['a list', [1, 'x', null]],
  ['a list of nothing', [undefined]],
  ['a sparse list', new Array(3)],
  ['no fields', {}],
  ['fields', { a: 1, name: 'x', value: {}, length: 1 }],
  ['a map of no class', Object.create(null)],
  ['a frozen thing', Object.freeze({ x: 1 })],
  ['a function', () => 'x'],
  ['a class', class Junk {}],
  ['a date', new Date(0)],
  ['a map', new Map([['a', 1]])],
  ['bytes', Uint8Array.of(1, 2, 3)],
  ['a buffer', Buffer.from('abc')],
  ['a promise', Promise.resolve(1)],
  ['a regex', /x/],
  ['an error', new Error('junk')],
  ['a cycle', cycle()],
  ['a deep list', deep(2_000)],
];

function cycle(): unknown {
  const self: Record<string, unknown> = {};
  self.self = self;
  return self;
}

function deep(depth: number): unknown {
  let thing: unknown = 1;
  for (let i = 0; i < depth; i++) thing = [thing];
  return thing;
}

/** How a call ended: `accepted`, or the code it was refused with. Anything else that escapes is a failure. */
export async function verdictOn(call: () => unknown, what: string): Promise<string> {
  let result: unknown;
  try {
    result = await call();
  } catch (error) {
    if (!isRepriseError(error)) {
      throw new Error(`${what}: something else than a refusal escaped: ${shown(error)}`, { cause: error });
    }
    expectDocumented(error);
    expect(error.message.length, what).toBeLessThan(3_000);
    return error.code;
  }
  return `accepted ${typeof result}`;
}

/** Each piece of junk must be refused, but for those that happen to be right here. */
export async function expectRefused(
  call: (junk: unknown) => unknown,
  what: string,
  right: readonly string[] = [],
): Promise<void> {
  const accepted: string[] = [];
  for (const [name, junk] of JUNK) {
    const verdict = await verdictOn(() => call(junk), `${what} given ${name}`);
    if (verdict.startsWith('accepted')) accepted.push(name);
  }
  expect(accepted, `what ${what} accepts`).toEqual(right);
}

function shown(thing: unknown): string {
  try {
    return thing instanceof Error ? `${thing.name}: ${thing.message}` : String(thing);
  } catch {
    return 'something without text';
  }
}
