#!/usr/bin/env node
/*
 * `npx reprise …` in the clone: runs the command from its sources, as `npm start` runs the sample world, so that it
 * works before a build and is never older than the world. `setup` links it into `node_modules/.bin`.
 */
import './lib/node-version.mjs';
import path from 'node:path';
import { ROOT } from './lib/root.mjs';
import { node, typescriptArgs, typescriptEnv } from './lib/run.mjs';

const bin = path.join(ROOT, 'packages/cli/src/bin.ts');
const { code } = await node([...typescriptArgs(), bin, ...process.argv.slice(2)], {
  cwd: process.cwd(),
  env: typescriptEnv(),
});
process.exitCode = code;
