/** What is mostly known at once: a promise where it is, and none where it is not, is a thousand promises a turn fewer. */

/** A value, or the promise of one. */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value: at once, or when its promise is resolved. */
export function after<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** `try` and `catch` around a body that may throw at once, or reject. */
export function rescued<T>(body: () => MaybePromise<T>, rescue: (thrown: unknown) => MaybePromise<T>): MaybePromise<T> {
  try {
    const value = body();
    return value instanceof Promise ? value.catch(rescue) : value;
  } catch (thrown) {
    return rescue(thrown);
  }
}
