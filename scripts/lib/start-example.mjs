import path from 'node:path';
import { setup } from '../setup.mjs';
import { CALLER, ROOT } from './root.mjs';
import { node, typescriptArgs, typescriptEnv } from './run.mjs';

/**
 * Runs an example on a fresh clone or a used one. Arguments go to it as they are; folders are relative to where the
 * user is.
 *
 * @param {string} name its folder under `examples`
 */
export async function startExample(name) {
  await setup();
  const main = path.join(ROOT, 'examples', name, 'src/main.ts');
  const { code } = await node([...typescriptArgs(), main, ...process.argv.slice(2)], {
    cwd: CALLER,
    env: typescriptEnv(),
  });
  process.exitCode = code;
}
