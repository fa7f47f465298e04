export { type CallOptions, Fleet, openFleet } from './fleet.js';
export {
  defineOperation,
  type Operation,
  type OperationContext,
  type OperationRequest,
  type OperationSchema,
} from './operation.js';
export type { FleetOptions, ListenAt } from './options.js';
