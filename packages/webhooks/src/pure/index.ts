/** The pure wing of webhooks: the outbox of a receiver, and how a delivery is posted. */
export * from './names.js';
export type { Notice, NoticeData, NoticeType } from './notice.js';
export { outboxReducer } from './outbox.js';
export type { Delivery, OutboxState } from './outbox-schemas.js';
export { type DeliveryPost, postPlan, webhookPost } from './post.js';
