/** Where the app called a method: an error that comes later, when the caller is gone from the stack, still shows it. */

/** The place of a call. */
export interface CallSite {
  /** Gives an error the frames of the call. */
  mark<E extends Error>(error: E): E;
}

/**
 * Remembers where a method was called.
 *
 * @param method the method, whose own frames are left out
 */
export function callSite(method: (...args: never) => unknown): CallSite {
  const called: { stack?: string } = {};
  const { captureStackTrace } = Error as { captureStackTrace?: (target: object, above: unknown) => void };
  captureStackTrace?.(called, method);
  return {
    mark: (error) => {
      const [, ...frames] = (called.stack ?? '').split('\n');
      if (frames.length > 0) error.stack = [`${error.name}: ${error.message}`, ...frames].join('\n');
      return error;
    },
  };
}
