/** Ctrl-C: the research is left in order, and its world is closed last. */

/** Aborted by Ctrl-C or a request to end; a second one ends the process as usual. */
export function interruption(): AbortSignal {
  const left = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => left.abort());
  return left.signal;
}

/**
 * Waits for work, but not longer than the user does. What the user has left ends with the world, whose closing is then
 * no failure.
 *
 * @returns whether the work is done
 */
export async function doneBefore(signal: AbortSignal, work: Promise<unknown>): Promise<boolean> {
  const left = new Promise<false>((resolve) => {
    if (signal.aborted) resolve(false);
    else signal.addEventListener('abort', () => resolve(false), { once: true });
  });
  return Promise.race([work.then(() => true), left]);
}
