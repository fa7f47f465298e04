/** Worlds on several machines: processes that share a PostgreSQL database and call each other. */

export {
  type AnswerOptions,
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
  type Posted,
  type PostsOptions,
} from '@reprise/fleet';
export type { WorldFrame } from '@reprise/kernel';
export type { FollowFramesOptions } from '@reprise/kernel/follow';
