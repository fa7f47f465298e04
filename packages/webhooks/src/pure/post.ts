/** The effect that posts one delivery, and the plan that waits for its answer. */
import { failureCode } from '@reprise/contracts';
import * as z from '@reprise/contracts/schema';
import { defineEffect, definePlan } from '@reprise/kernel/define';
import { notice } from './notice.js';
import { SCHEDULE } from './schedule.js';

const { type, at, data } = notice.shape;

/** What is posted: the id is that of every attempt. The receiver is a name; its address and its secret are the app's. */
const posted = z.strictObject({ receiver: z.string().min(1).max(64), id: z.string().max(64), type, at, data });

/** What is posted: a notice for one receiver, under its id. */
export type DeliveryPost = z.infer<typeof posted>;

/**
 * `webhook.post@1`: posts a delivery. A receiver may be sent it again after a crash, with the same `webhook-id`. Every answer
 * of the receiver is a payload; an error says that it did not answer.
 */
export const webhookPost = defineEffect({
  kind: 'webhook.post@1',
  params: posted,
  receipt: z.strictObject({ status: z.int().min(100).max(599), retry_after_ms: z.nullable(z.int().min(0)) }),
  guarantee: 'idempotent',
});

/** How an attempt ended: with a status of the receiver, or with a code. */
export const attempted = z.strictObject({
  /** The place of the delivery in its outbox. */
  at: z.string().max(64),
  status: z.nullable(z.int()),
  retry_after_ms: z.nullable(z.int()),
  code: z.nullable(z.union([failureCode, z.string().max(96)])),
});

/** How an attempt ended: see the schema. */
export type Attempted = z.infer<typeof attempted>;

/** The event of the end of an attempt. */
export const ATTEMPTED = 'webhooks/Attempted@1';

/** Posts a delivery, and tells the outbox how that ended. */
export const postPlan = definePlan({
  name: 'webhooks/post_plan@1',
  input: z.strictObject({ at: z.string().max(64), post: posted }),
  effects: [webhookPost],
  *run({ at: place, post }, plan) {
    const receipt = yield* plan.awaitReceipt(plan.emitEffect(webhookPost, post, { timeoutMs: SCHEDULE.answerMs }));
    const value: Attempted =
      receipt.status === 'ok'
        ? { at: place, code: null, ...receipt.payload }
        : { at: place, code: receipt.code ?? receipt.status, status: null, retry_after_ms: null };
    plan.raiseEvent({ name: ATTEMPTED, value });
  },
});
