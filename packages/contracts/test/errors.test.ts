/** What an error says of the thing that it is of. */
import { describe, expect, it } from 'vitest';
import { RepriseError } from '../src/index.js';

const errorOf = (actual: unknown): RepriseError => new RepriseError('invalid_argument', 'wrong', { actual });

describe('an error about a value', () => {
  it('an error shows its value, and only the type of a field that is named like a secret', () => {
    const thing = { a: [1, { b: 2 }] };
    expect(errorOf(thing).details.actual).toBe(thing);
    expect(errorOf({ a: 1, apiKey: 'sk-1', deep: [{ headers: { x: 'sk-2' } }] }).details.actual).toEqual({
      a: 1,
      apiKey: 'a string',
      deep: [{ headers: 'an object' }],
    });
  });

  it('an error lists its facts in its message and in JSON, and not once more among what a console prints', () => {
    const error = new RepriseError('store_failed', 'it failed', { where: 'here', cause: new Error('disk full') });
    expect(Object.keys(error)).toEqual(['code', 'name']);
    const details = { where: 'here', cause: 'Error: disk full' };
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: 'RepriseError',
      code: 'store_failed',
      message: 'store_failed: it failed; at here',
      details,
    });
  });

  it('an error about a large value shows its first parts only', () => {
    const list = Array.from({ length: 5_000 }, (_, i) => i);
    expect(errorOf(list).details.actual).toEqual(list.slice(0, 1_000));
    const late = errorOf([...list, { token: 'sk-1' }]);
    expect(JSON.stringify([late.message, late.details])).not.toContain('sk-1');
  });

  it('an error costs little, however often a value contains itself', () => {
    const nodes: unknown[] = [];
    for (let i = 0; i < 1_000; i++) nodes.push({ i, nodes });
    let asked = 0;
    const counted = new Proxy(nodes, {
      get: (target, name) => {
        asked++;
        return Reflect.get(target, name) as unknown;
      },
    });
    nodes.push({ nodes: counted });
    errorOf(counted);
    expect(asked).toBeLessThan(20_000);
  });

  it('an error shows the number of bytes instead of the bytes', () => {
    expect(errorOf(new Uint8Array(10_000_000)).message).toBe('invalid_argument: wrong; got 10000000 bytes');
  });
});
