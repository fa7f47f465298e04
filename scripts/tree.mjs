/* `npm run tree -- run "GOAL" --folder FOLDER`: a tree of agents, on a model of rules unless another is named. */
import './lib/node-version.mjs';
import path from 'node:path';
import { CALLER, ROOT } from './lib/root.mjs';
import { node, typescriptArgs, typescriptEnv } from './lib/run.mjs';
import { setup } from './setup.mjs';

await setup();
const bin = path.join(ROOT, 'packages/cli/src/bin.ts');
const { code } = await node([...typescriptArgs(), bin, 'tree', ...process.argv.slice(2)], {
  cwd: CALLER,
  env: typescriptEnv(),
});
process.exitCode = code;
