import module from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { setup } from '../setup.mjs';
import { BUILT_EXAMPLES, buildState } from './built.mjs';
import { CALLER, ROOT } from './root.mjs';
import { node, typescriptArgs, typescriptEnv } from './run.mjs';

/**
 * Runs an example on a fresh clone or a used one: from built files when they are built from the sources as they are
 * now, else from the sources. Arguments go to it as they are; folders are relative to where the user is.
 *
 * @param {string} name its folder under `examples`
 */
export async function startExample(name) {
  await setup();
  const home = path.join(ROOT, 'examples', name);
  if (BUILT_EXAMPLES.includes(name) && buildState() === 'current') await runBuilt(path.join(home, 'dist/main.js'));
  else await runSources(path.join(home, 'src/main.ts'));
}

/** In this process: a second one would start Node again. */
async function runBuilt(program) {
  process.chdir(CALLER);
  process.argv[1] = program;
  // From Node 22 on, what was compiled once is kept for the next start.
  module.enableCompileCache?.();
  await import(pathToFileURL(program).href);
}

async function runSources(program) {
  const args = [...typescriptArgs(), program, ...process.argv.slice(2)];
  const { code } = await node(args, { cwd: CALLER, env: typescriptEnv() });
  process.exitCode = code;
}
