export {
  type GivenPlan,
  type GivenPlanOptions,
  givenPlan,
  type PlanOutcome,
  type PlanStep,
  type PlanWhen,
  type StartedPlan,
} from './given-plan.js';
export {
  type GivenEvent,
  type GivenReducer,
  type GivenReducerOptions,
  givenReducer,
  type ReducerOutcome,
  type ReducerWhen,
} from './given-reducer.js';
export type { GivenSender } from './given-sender.js';
