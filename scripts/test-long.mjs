/*
 * `npm run test:long [-- --only NAME] [-- ARGS …]`: the long forms of the acceptance tests, `scripts/long/NAME.ts`,
 * one after the other, each with its time. Other arguments go to each of them as they are.
 */
import './lib/node-version.mjs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './lib/root.mjs';
import { runEach } from './lib/run-each.mjs';
import { setup } from './setup.mjs';

await setup();
const SUFFIX = '.ts';
const folder = path.join(ROOT, 'scripts/long');
const files = (await readdir(folder)).filter((file) => file.endsWith(SUFFIX)).sort();
await runEach(
  files.map((file) => ({ name: file.slice(0, -SUFFIX.length), file: path.join(folder, file) })),
  process.argv.slice(2),
);
