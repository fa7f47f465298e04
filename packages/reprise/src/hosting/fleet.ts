/** Worlds on several machines: processes that share a PostgreSQL database and call each other. */
export {
  type CallOptions,
  defineOperation,
  type Fleet,
  type FleetOptions,
  type ListenAt,
  type Operation,
  type OperationContext,
  type OperationRequest,
  type OperationSchema,
  openFleet,
} from '@reprise/fleet';
