export { type AnswerOptions, type CallOptions, Fleet, openFleet, type Posted } from './fleet.js';
export {
  defineOperation,
  type Operation,
  type OperationContext,
  type OperationRequest,
  type OperationSchema,
} from './operation.js';
export type { FleetOptions, ListenAt, PostsOptions } from './options.js';
