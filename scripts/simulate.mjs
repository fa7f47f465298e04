/*
 * `npm run simulate -- [--seeds N] [--from S] [--subject NAME] [--jobs J]`: the fault simulator, seed after seed, in some
 * processes at once. Exits with 1 when a promise was broken, or when the runs never came across something they should.
 */
import './lib/node-version.mjs';
import path from 'node:path';
import { ROOT } from './lib/root.mjs';
import { node, typescriptArgs, typescriptEnv } from './lib/run.mjs';
import { setup } from './setup.mjs';

await setup();
const program = path.join(ROOT, 'scripts', 'simulator.ts');
const { code } = await node([...typescriptArgs(), program, ...process.argv.slice(2)], { env: typescriptEnv() });
process.exitCode = code;
