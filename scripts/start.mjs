/*
 * `npm start [-- FOLDER …]`: runs the sample world on a fresh clone or a used one.
 * Arguments go to the sample as they are; folders are relative to where the user is.
 */
import './lib/node-version.mjs';
import path from 'node:path';
import { CALLER, ROOT } from './lib/root.mjs';
import { node, typescriptArgs, typescriptEnv } from './lib/run.mjs';
import { setup } from './setup.mjs';

await setup();
const main = path.join(ROOT, 'examples/headless-world/src/main.ts');
const { code } = await node([...typescriptArgs(), main, ...process.argv.slice(2)], {
  cwd: CALLER,
  env: typescriptEnv(),
});
process.exitCode = code;
