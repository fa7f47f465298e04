/** A process that holds a world and does nothing else, until it is killed. Argument: the path. */
import { writeSync } from 'node:fs';
import { isRepriseError } from '@reprise/contracts';
import { sqlite } from '../src/index.js';

try {
  await sqlite(process.argv[2] as string).open();
  writeSync(1, 'held\n');
  setInterval(() => {}, 1000);
} catch (error) {
  writeSync(1, `${isRepriseError(error) ? error.code : String(error)}\n`);
}
