import { Ref } from '@reprise/contracts';
import { describe, expect, it } from 'vitest';
import { deep } from '../../../../../conformance/part.js';
import { encode, memory, openKernelWorld, putValue, type Store } from '../../../src/index.js';
import { LINKS_FOLLOWED_MAX } from '../../../src/ports/content/bounds.js';
import { LinkCheck } from '../../../src/ports/content/links.js';
import { refusal } from '../../support/judge.js';
import { ask, lab, log } from '../../support/lab.js';

const { app } = lab();

const refOf = (n: number): Ref => Ref.fromHex(n.toString(16).padStart(64, '0'), 'value');

/** Content in which each value links the next, so many of them. */
function chain(length: number) {
  return {
    get: async (ref: Ref) => {
      const n = Number.parseInt(ref.hex, 16);
      return encode(n + 1 < length ? { next: refOf(n + 1) } : { last: true });
    },
    has: async () => true,
    erasedBy: async () => undefined,
    erasedThrough: async () => -1,
    list: async function* () {},
  };
}

describe('given a value that links a chain of values', () => {
  it('a chain of links beyond the bound is refused, and the process does other work meanwhile [CON-17]', async () => {
    let turns = 0;
    const count = (): void => {
      turns++;
      handle = setImmediate(count);
    };
    let handle = setImmediate(count);
    const bad = await new LinkCheck(chain(Number.MAX_SAFE_INTEGER)).firstBad({ first: refOf(0) });
    clearImmediate(handle);
    expect(bad?.why).toBe('too_many_links');
    expect(turns).toBeGreaterThan(LINKS_FOLLOWED_MAX / 10_000);
  });

  deep('links: at the bound', () => {
    it('a chain of links at the bound is accepted [CON-17]', async () => {
      expect(await new LinkCheck(chain(LINKS_FOLLOWED_MAX)).firstBad({ first: refOf(0) })).toBeUndefined();
    });
  });

  deep('links: request', () => {
    it('a request that links such a chain is refused with the bound, and nothing is journaled [CON-17]', async () => {
      let first: Ref | undefined;
      const endless = chain(Number.MAX_SAFE_INTEGER);
      const memoryStore = memory();
      const store: Store = {
        ...memoryStore,
        open: async () => {
          const open = await memoryStore.open();
          const get = (ref: Ref) => {
            if (first === undefined) return open.content.get(ref);
            return endless.get(ref.hex === first.hex ? refOf(0) : ref);
          };
          return { ...open, content: { ...open.content, get } };
        },
      };
      const world = await openKernelWorld({ store, app });
      const value = await putValue(world.content, { a: 1 });
      const before = world.head.seq;
      first = value;
      const error = await refusal(ask(world, 'x', [log(value)]));
      first = undefined;
      expect([error.code, error.details.expected]).toEqual(['bound_exceeded', expect.stringContaining('250000')]);
      expect(world.head.seq).toBe(before);
      await world.close();
    });
  });
});
