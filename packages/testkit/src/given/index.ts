export {
  givenPlan,
  type PlanOutcome,
} from './given-plan.js';
export {
  type GivenEvent,
  givenReducer,
  type ReducerOutcome,
} from './given-reducer.js';
