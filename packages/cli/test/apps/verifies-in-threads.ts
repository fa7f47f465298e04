/**
 * A process that verifies a file in threads with little memory, and prints the code and the hint of the error. It is a
 * process of its own since a thread that runs out of memory may take all of its process with it.
 */
import { isRepriseError } from '@reprise/contracts';
import { inThreads } from '../in-threads.js';
import { app } from './odd-in-threads.js';

const [path = ''] = process.argv.slice(2);
const threads = { memory: { maxOldGenerationSizeMb: 64 } };
const { verdict } = await inThreads(path, { module: 'odd-in-threads', app, threads });
const error = isRepriseError(verdict) ? { code: verdict.code, hint: verdict.details.hint } : {};
process.stdout.write(JSON.stringify(error));
