import * as z from '../schema/index.js';
import { actor } from './actor.js';
import { failureCode } from './failure.js';
import { ref, value } from './markers.js';
import { principal } from './principal.js';

/** How an effect ended. Every effect is settled by exactly one receipt. */
export const RECEIPT_STATUSES = ['ok', 'error', 'timeout', 'denied', 'cancelled', 'outcome_unknown'] as const;

/** How an effect ended, see {@link RECEIPT_STATUSES}. */
export type ReceiptStatus = (typeof RECEIPT_STATUSES)[number];

/** The usage of an effect, in whole units. Money is in millionths of a unit of currency. */
export const usage = z.strictObject({
  tokens_in: z.exactOptional(z.int().min(0)),
  tokens_out: z.exactOptional(z.int().min(0)),
  tokens_cached: z.exactOptional(z.int().min(0)),
  micro_money: z.exactOptional(z.int().min(0)),
  calls: z.exactOptional(z.int().min(0)),
});

/** The usage of an effect, in whole units. */
export type Usage = z.infer<typeof usage>;

const errorText = { name: z.string().max(128), message: z.string(), code: z.exactOptional(z.string().max(128)) };

/**
 * The stored text of an error, for operators: its message and its causes', without secrets, and the status of an HTTP
 * answer.
 */
export const errorDetail = z.strictObject({
  ...errorText,
  /** The status of an HTTP answer. */
  status: z.exactOptional(z.int().min(0)),
  /** The host name of the server that failed, where its client states it. */
  server: z.exactOptional(z.string().max(256)),
  causes: z.exactOptional(z.array(z.strictObject(errorText))),
});

/** The stored text of an error, for operators. */
export type ErrorDetail = z.infer<typeof errorDetail>;

/**
 * Whom an effect asked: a client of a model, and the server behind it. Names are those of the client's profile; a field
 * that the client does not know is absent.
 */
export const askedModel = z.strictObject({
  /** Identifies the client's format or provider, for example `openai-responses`. */
  profile: z.string().min(1).max(128),
  /** The model's name at the provider. */
  model: z.string().min(1).max(128),
  provider: z.exactOptional(z.string().min(1).max(128)),
  /** The host name of the server, without a port. */
  server: z.exactOptional(z.string().min(1).max(256)),
});

/** Whom an effect asked, as its receipt says. */
export type AskedModel = z.infer<typeof askedModel>;

/** What an execution knows of itself, whatever its outcome. Nothing here can be computed from other records. */
export const observed = z.strictObject({
  asked: z.exactOptional(askedModel),
  /** The name of the model that the provider says has answered. */
  response_model: z.exactOptional(z.string().min(1).max(256)),
  /** From the request to the first piece of the last answer that began, in milliseconds of the journal's clock. */
  first_chunk_ms: z.exactOptional(z.int().min(0)),
});

/** What an execution knows of itself, as receipts hold it. */
export type Observed = z.infer<typeof observed>;

/**
 * The outcome of an effect, as a plan reads it. `payload` is present when the status is `ok` and then has
 * passed the effect's receipt schema; a payload that did not pass is status `error`, code `validation_error`.
 */
export const receipt = z.strictObject({
  adapter: z.string().max(128),
  status: z.enum(RECEIPT_STATUSES),
  code: z.exactOptional(failureCode),
  retryable: z.exactOptional(z.boolean()),
  payload: z.exactOptional(value()),
  usage: z.exactOptional(usage),
  /** What its adapter observed: of an effect that no adapter began, and in older journals, these fields are absent. */
  ...observed.shape,
  /** The link to the text of the error, as an {@link ErrorDetail}: for operators, no plan and no model reads it. */
  error_ref: z.exactOptional(ref()),
  /** The principal that settled it, when that was not its adapter. */
  by: z.exactOptional(principal),
  /** Who acted, where the principal's own command stated it; otherwise it follows from `by`: see `actorOf`. */
  actor: z.exactOptional(actor),
  /** The reason that came with the settlement, as text: only of the decision that settled the effect. */
  reason_ref: z.exactOptional(ref()),
  attempts: z.int().min(0),
});

/** The outcome of an effect, as a plan reads it. */
export type Receipt = z.infer<typeof receipt>;

/**
 * The execution guarantee of an effect, which decides whether it may be executed again after a crash: see
 * `docs/explanation/delivery.md`.
 */
export const GUARANTEES = ['idempotent', 'at_most_once', 'reconcile'] as const;

/** The execution guarantee of an effect. */
export type Guarantee = (typeof GUARANTEES)[number];
