import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { stepOf } from '../../../../conformance/part.js';
import { hold, SEED } from '../../../kernel/test/support/laws/hold.js';
import { sizeOf } from '../../src/reducer/transcript/sizes.js';

describe('the size of a value, as a session reckons it', () => {
  it(`the estimated size of a value is never less than two thirds of its bytes (seed ${SEED})`, () => {
    const values = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 });
    const holds = fc.property(values, (value) => sizeOf(value) * 3 >= encode(value as Value).length * 2);
    return hold(holds, {
      numRuns: 500 / stepOf(4),
      seed: SEED,
      command: 'npx vitest run packages/agent/test/reducer/sizes',
    });
  });
});
