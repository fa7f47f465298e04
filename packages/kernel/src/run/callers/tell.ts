/** Calls of listeners that an app has given. */
import { outsideEffects } from './callers.js';

/** Calls a listener. One that throws, or whose promise is rejected, must not make anything else fail: nobody is left to tell. */
export function tellListener(call: () => unknown): void {
  try {
    Promise.resolve(outsideEffects(call)).catch(() => undefined);
  } catch {
    // as above
  }
}
