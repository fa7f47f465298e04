/** Retries of the transport: how long to wait, and when not to retry. Plans own the retries of effects. */

/** Waits, or rejects when the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** How the transport retries a failed request. */
export interface RetryPolicy {
  /** How many retries follow the first attempt; 0 for never. */
  readonly retriesMax: number;
  /** The wait before the first retry, in milliseconds; it doubles for each further retry. */
  readonly baseMs: number;
  /**
   * The longest wait, in milliseconds, including waits that the provider requests: a longer one fails, and the plan
   * decides.
   */
  readonly waitMsMax: number;
}

/** Three retries after about 0.5, 1 and 2 seconds: enough for a busy minute at a provider. */
export const RETRY_DEFAULT: RetryPolicy = Object.freeze({ retriesMax: 3, baseMs: 500, waitMsMax: 30_000 });

/**
 * Computes the wait before a retry in milliseconds; undefined when the provider requests more than the policy allows.
 *
 * @param retry 0 for the first retry
 * @param askedMs the wait that the provider requests
 * @param key spreads the waits of calls that fail together; any hex text, for example the effect's id
 */
export function waitBefore(
  policy: RetryPolicy,
  retry: number,
  askedMs: number | undefined,
  key: string,
): number | undefined {
  if (askedMs !== undefined) return askedMs <= policy.waitMsMax ? askedMs : undefined;
  const full = Math.min(policy.waitMsMax, policy.baseMs * 2 ** retry);
  const spread = Number.parseInt(key.slice(0, 4), 16) / 0xffff;
  return Math.round(full * (0.75 + 0.25 * (Number.isFinite(spread) ? spread : 1)));
}

/**
 * Reads the wait that an answer requests, in milliseconds.
 *
 * @param nowMs the current time, for headers that hold a date
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const exact = headers.get('retry-after-ms');
  if (exact !== null && AMOUNT.test(exact)) return Math.ceil(Number(exact));
  const header = headers.get('retry-after');
  if (header === null) return undefined;
  if (AMOUNT.test(header)) return Math.ceil(Number(header) * 1_000);
  // JavaScript engines parse almost any text as a date, even `-1`.
  const moment = DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - nowMs);
}

const AMOUNT = /^\d+(\.\d+)?$/;

/** The date formats of HTTP begin with the name of a weekday. */
const DATE = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i;

/** Waits on the clock of this process. */
export const sleep: Sleep = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
