/** The law of senders in a build with a planted mistake. */
import { eventsOf, everyForm } from './declared.js';
import { trySenders } from './law.js';

/** @throws Error with the first difference */
export async function senders(): Promise<void> {
  for (const declared of eventsOf(everyForm)) {
    const [first] = (await trySenders(declared)).differences;
    if (first !== undefined) throw new Error(first);
  }
}
