/**
 * Ends verification threads in the middle of their work, again and again, a little later each time. Arguments: the path
 * of a world, and how often. Prints how often it did.
 */
import { VerifyThreads } from '../../src/verify/threads.js';
import { appAt } from '../in-threads.js';

/** When a round ends its threads, in milliseconds after they began: spread over the time that their work takes. */
const [STEP, SPAN] = [13, 50];

const [, , world, times] = process.argv as [string, string, string, string];
const task = { world, app: appAt('app'), legacy: [], pureCode: false, thorough: false };
let ended = 0;
while (ended < Number(times)) {
  const threads = new VerifyThreads(task, { size: 2, framesMin: 1 });
  await threads.begin(2);
  const over = new AbortController();
  const works = [0, 1].map((part) => threads.read({ part, of: 2 }, () => undefined, over.signal));
  const rejected = Promise.allSettled(works);
  await new Promise((resolve) => setTimeout(resolve, (ended * STEP) % SPAN));
  over.abort();
  await rejected;
  await threads.close();
  ended++;
}
console.log(ended);
