import { describe, expect, it } from 'vitest';
import { portableSha256 } from '../../../src/pure/codec/index.js';
import { effectId } from '../../../src/pure/engine/leaf/identity.js';

type Identity = Parameters<typeof effectId>[0];

const SHIPPED: Identity = {
  world: '0a',
  plan: ['shop/Order@1', 'a', 3],
  planName: 'shop/pay_plan@1',
  generation: 1,
  emission: 0,
  kind: 'shop.ship@1',
  params: { to: 'ada' },
};

/** What is an effect of its own. */
const OTHERS: readonly (readonly [part: string, other: Partial<Identity>])[] = [
  ['the world', { world: '0b' }],
  ['the reducer of the cell', { plan: ['shop/Basket@1', 'a', 3] }],
  ['the key of the cell', { plan: ['shop/Order@1', 'b', 3] }],
  ['the generation of the cell', { generation: 2 }],
  ['the plan', { planName: 'shop/pay_plan@2' }],
  ['the ordinal of the plan', { plan: ['shop/Order@1', 'a', 4] }],
  ['the emission', { emission: 1 }],
  ['the kind', { kind: 'shop.ship@2' }],
  ['the parameters', { params: { to: 'bob' } }],
];

describe('given the identity of an effect', () => {
  it.each(OTHERS)('an effect with another value of %s has another id [EFF-1]', (_, other) => {
    expect(effectId({ ...SHIPPED, ...other }, portableSha256)).not.toBe(effectId(SHIPPED, portableSha256));
  });

  it('an effect with equal parts has the same id, which is pinned: journals and services have stored it [EFF-1]', () => {
    expect(effectId({ ...SHIPPED }, portableSha256)).toBe(
      'a60b8527d1d4e1314ed91e0a5c958dbe6027ddb5e09144f6b39df1864c99b53b',
    );
  });
});
