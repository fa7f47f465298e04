/**
 * A process that dies in the fold of one of its worlds, while notes of others stand: `folding-child.mjs DATABASE DIES OTHER FOLDS`.
 * With `FOLDS` it is killed in the fold, else beside it.
 */
import { postgres } from '../../src/index.js';

const [url = '', dies = '', other = '', folds = ''] = process.argv.slice(2);
const database = postgres(url, { ttl: 60_000 });
const [first, second] = [await database.world(dies).open(), await database.world(other).open()];
await first.mark('1 first');
await second.mark('1 second');
const end = (): never => {
  process.kill(process.pid, 'SIGKILL');
  for (;;); // the signal comes at once, and nothing is done after it
};
if (folds === 'yes') first.answerFor?.(end);
first.answerFor?.(() => undefined);
end();
