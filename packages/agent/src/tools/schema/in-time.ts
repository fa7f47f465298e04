import { messageOf } from './schema.js';

/**
 * How long recorded code may take for one judgment, in milliseconds. A rule that asks a service answers in seconds; a
 * rule that hangs must not cost the model's answer.
 */
export const JUDGING_MS_MAX = 30_000;

/** The answer of recorded code, or the reason why it is missing. */
export type InTime<T> = { readonly ok: true; readonly value: T } | NotInTime;

/** Why there is no answer. */
export interface NotInTime {
  readonly ok: false;
  readonly why: string;
  /** What the code threw, where it threw. */
  readonly error?: unknown;
  /** Whether nobody waited for it any more. */
  readonly isStopped?: true;
}

/** Resolves when the caller no longer waits for recorded code. */
export type Stopped = Promise<unknown>;

/** Runs work that stops with a signal; one listener serves every judgment in it. */
export async function stoppingWith<T>(signal: AbortSignal, body: (stopped: Stopped) => Promise<T>): Promise<T> {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await body(stopped);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Runs recorded code: an exception, a timeout and a stop are returned as data. */
export async function inTime<T>(body: () => Promise<T>, stopped: Stopped): Promise<InTime<T>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<InTime<T>>((resolve) => {
    const why = `it took longer than ${JUDGING_MS_MAX / 1_000} s`;
    timer = setTimeout(() => resolve({ ok: false, why }), JUDGING_MS_MAX);
  });
  const told = stopped.then((): InTime<T> => ({ ok: false, why: 'it was told to stop', isStopped: true }));
  try {
    return await Promise.race([told, body().then((value): InTime<T> => ({ ok: true, value })), late]);
  } catch (error) {
    return { ok: false, why: messageOf(error), error };
  } finally {
    clearTimeout(timer);
  }
}
