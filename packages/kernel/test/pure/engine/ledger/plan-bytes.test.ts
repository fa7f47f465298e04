import { describe, it } from 'vitest';
import { holdGrowingPlans, holdPartingPlans } from '../../../kept/plan-sizes.js';

const SEED = 2026;

describe('the counted size of a plan', () => {
  it(`the size of a plan is the length of its encoding after each of its resumptions (seed ${SEED})`, () => {
    holdGrowingPlans(SEED);
  });

  it('two plans that go different ways from the same resumptions are each counted with their own', () => {
    holdPartingPlans();
  });
});
