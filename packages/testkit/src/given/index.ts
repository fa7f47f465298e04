export { type GivenPlan, givenPlan, type PlanOutcome } from './given-plan.js';
export { type GivenEvent, type GivenReducer, givenReducer, type ReducerOutcome } from './given-reducer.js';
