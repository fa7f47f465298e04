#!/usr/bin/env node
/*
 * `npx reprise …` in the clone: from built files when they are built from the sources as they are now, else from the
 * sources, as `npm start` runs the sample world. So it works before a build and is never older than the world. `setup`
 * links it into `node_modules/.bin`.
 */
import './lib/node-version.mjs';
import path from 'node:path';
import { buildState } from './lib/built.mjs';
import { ROOT } from './lib/root.mjs';

/** Only sources run under the loader of TypeScript, which a module of an app may need. */
const namesTypeScript = process.argv.some((word) => /\.[cm]?tsx?$/.test(word));

const state = buildState();
if (state === 'current' && !namesTypeScript) await import('../packages/cli/dist/bin.js');
else await fromSources();

async function fromSources() {
  const { node, typescriptArgs, typescriptEnv } = await import('./lib/run.mjs');
  if (state === 'stale') console.error('reprise: the build is older than the sources; runs from the sources');
  const bin = path.join(ROOT, 'packages/cli/src/bin.ts');
  const { code } = await node([...typescriptArgs(), bin, ...process.argv.slice(2)], {
    cwd: process.cwd(),
    env: typescriptEnv(),
  });
  process.exitCode = code;
}
