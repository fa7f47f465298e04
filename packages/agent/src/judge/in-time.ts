import { messageOf } from '../tools/schema.js';

/**
 * How long recorded code may take to judge one thing, in milliseconds. A rule that asks a service answers in seconds;
 * the model's answer is not lost for one that hangs.
 */
export const JUDGING_MS_MAX = 30_000;

/** What recorded code answered, or why it did not. */
export type InTime<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** Resolves when nobody waits for recorded code any more. */
export type Stopped = Promise<unknown>;

/** Does something that stops with a signal; one listener, however much is asked meanwhile. */
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

/** Runs recorded code: what it throws, and that it takes too long or is told to stop, is data. */
export async function inTime<T>(body: () => Promise<T>, stopped: Stopped): Promise<InTime<T>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<InTime<T>>((resolve) => {
    const why = `it took longer than ${JUDGING_MS_MAX / 1_000} s`;
    timer = setTimeout(() => resolve({ ok: false, why }), JUDGING_MS_MAX);
  });
  const told = stopped.then((): InTime<T> => ({ ok: false, why: 'it was told to stop' }));
  try {
    return await Promise.race([told, body().then((value): InTime<T> => ({ ok: true, value })), late]);
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  } finally {
    clearTimeout(timer);
  }
}
