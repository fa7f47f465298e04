import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { npm } from '../../lib/run.mjs';

/** Other systems build what they need, such as better-sqlite3; `npm run` would hand down that our packages must not. */
const INSTALL_FLAGS = ['--ignore-scripts=false', '--no-audit', '--no-fund'];

/**
 * Installs the packages of another system in a folder of its own, unless they are there, and copies the programs there,
 * so that they find the packages.
 *
 * @param {string} folder
 * @param {{ name: string, packages: Record<string, string>, overrides?: Record<string, string> }} system
 * @returns {Promise<string>} the folder with the programs
 */
export async function installed(folder, { name, packages, overrides = {} }) {
  const home = path.join(folder, name);
  await mkdir(home, { recursive: true });
  const file = path.join(home, 'package.json');
  const manifest = JSON.stringify({
    name: `bench-${name}`,
    private: true,
    type: 'module',
    dependencies: packages,
    overrides,
  });
  if ((await readFile(`${file}.installed`, 'utf8').catch(() => undefined)) !== manifest) {
    console.log(
      `installing ${Object.entries(packages)
        .map((pair) => pair.join('@'))
        .join(', ')} in ${home}`,
    );
    await writeFile(file, manifest);
    const { code, output } = await npm(['install', ...INSTALL_FLAGS], { cwd: home, quiet: true });
    if (code !== 0) throw new Error(`npm install failed: ${output}`);
    await writeFile(`${file}.installed`, manifest);
  }
  await cp(fileURLToPath(new URL('programs', import.meta.url)), home, { recursive: true });
  return home;
}
