import path from 'node:path';
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
  const isBuilt = BUILT_EXAMPLES.includes(name) && buildState() === 'current';
  const program = isBuilt ? [path.join(home, 'dist/main.js')] : [...typescriptArgs(), path.join(home, 'src/main.ts')];
  const { code } = await node([...program, ...process.argv.slice(2)], { cwd: CALLER, env: typescriptEnv() });
  process.exitCode = code;
}
