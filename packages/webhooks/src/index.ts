/** Webhooks of a world: what it tells others, and what others tell it. */

export type { SayToSession, SendToCell, SettleCall, WebhookAct } from './in/acts.js';
export { type WebhookHandlerOptions, type WebhookMessage, webhookHandler } from './in/handler.js';
export {
  type HmacOptions,
  hmac,
  type ReceivedRequest,
  type StandardWebhookOptions,
  standardWebhook,
  type VerifiedMessage,
  type VerifyContext,
  type VerifyRequest,
} from './in/verify.js';
export type { ListedDelivery, ReceiverStatus, RetryOptions, Webhooks } from './out/handle.js';
export { webhooks } from './out/part.js';
export type { NoticedSession, ReceiverOptions, WebhooksOptions } from './out/receivers.js';
export type { NoticeData, NoticeType, Topic } from './pure/index.js';
