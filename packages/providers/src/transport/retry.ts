/** Retries of the transport: how long to wait, and when not to. Effect-level retries belong to plans. */

/** Waits, or rejects when the signal aborts. */
export type Sleep = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** How the adapter repeats a request that failed on the way. */
export interface RetryPolicy {
  /** How many times beyond the first; 0 for never. */
  readonly retriesMax: number;
  /** The wait before the first retry; doubled for each further one. */
  readonly baseMs: number;
  /** The longest wait, also of one that the provider asks for: above it the failure is the plan's to handle. */
  readonly waitMsMax: number;
}

/** Three retries after about a half, one and two seconds: what a busy minute at a provider takes. */
export const RETRY_DEFAULT: RetryPolicy = Object.freeze({ retriesMax: 3, baseMs: 500, waitMsMax: 30_000 });

/**
 * How long to wait before a retry; undefined when the provider asks for more than is sensible.
 *
 * @param retry 0 for the first retry
 * @param askedMs what the provider asks for
 * @param key spreads the waits of calls that fail together; any hex text, the effect's id for one
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
 * The wait that an answer asks for, in milliseconds.
 *
 * @param nowMs the present time, for the form that names a moment
 */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const exact = headers.get('retry-after-ms');
  if (exact !== null && AMOUNT.test(exact)) return Math.ceil(Number(exact));
  const header = headers.get('retry-after');
  if (header === null) return undefined;
  if (AMOUNT.test(header)) return Math.ceil(Number(header) * 1_000);
  // Engines read almost anything as some date, `-1` too.
  const moment = DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - nowMs);
}

const AMOUNT = /^\d+(\.\d+)?$/;

/** The forms of dates that HTTP knows begin with the name of a day. */
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
