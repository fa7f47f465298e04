import type { Value } from '@reprise/contracts';
import { encode } from '@reprise/kernel';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { sizeOf } from '../../../packages/agent/src/reducer/sizes.js';
import { hold, SEED } from '../../../packages/kernel/test/laws/hold.js';

describe('the size of a value, as a session reckons it', () => {
  it(`is never less than two thirds of its bytes (seed ${SEED})`, () => {
    const values = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 });
    const holds = fc.property(values, (value) => sizeOf(value) * 3 >= encode(value as Value).length * 2);
    return hold(holds, { numRuns: 500, seed: SEED, command: 'npx vitest run conformance/sessions/reducer/sizes' });
  });
});
