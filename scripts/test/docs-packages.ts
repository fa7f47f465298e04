/**
 * The packages as an app has them in its `node_modules`, built from the sources as they are now. Children that run a
 * page then start in a third of the time that a TypeScript loader needs for all of the sources.
 */
import { cpSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, transformSync } from 'esbuild';
import { pageModule } from '../lib/inspect-page.js';
import { workspacePackages } from '../lib/packages.mjs';
import { sandboxTexts } from '../lib/sandbox-texts.js';

const TARGET = 'node20';

/** Builds every package into a folder's `node_modules`; whatever else they import is found above that folder. */
export async function installPackages(root: string, folder: string): Promise<void> {
  const packages = await workspacePackages();
  await Promise.all(
    packages.map(async ({ name, folder: at, entries }) => {
      const [from, to] = [path.join(root, at), path.join(folder, 'node_modules', name)];
      const outputs = entries.map(({ source, output }) => ({
        in: path.join(from, source),
        out: path.posix.relative('dist', path.posix.normalize(output)).replace(/\.js$/, ''),
      }));
      await build({
        entryPoints: outputs,
        outdir: path.join(to, 'dist'),
        bundle: true,
        splitting: true,
        packages: 'external',
        external: ['#*'], // found as an app finds it, by the package itself, whether or not it was ever built
        format: 'esm',
        platform: 'node',
        target: TARGET,
        logLevel: 'silent',
      });
      cpSync(path.join(from, 'package.json'), path.join(to, 'package.json'));
      const own = path.join(from, 'node_modules');
      if (existsSync(own)) symlinkSync(own, path.join(to, 'node_modules'), 'junction');
    }),
  );
  cpSync(path.join(root, 'docs/errors'), path.join(folder, 'node_modules/@reprise/cli/dist/errors'), {
    recursive: true,
  });
  writeFileSync(path.join(folder, 'node_modules/@reprise/sandbox/dist/texts.js'), sandboxTexts());
  writeFileSync(path.join(folder, 'node_modules/@reprise/inspect/dist/page.js'), await pageModule());
}

/** The command of the package `reprise` in such a folder. */
export function commandIn(folder: string): string {
  return path.join(folder, 'node_modules/reprise/dist/bin.js');
}

/** TypeScript without its types. */
export function toJavaScript(source: string): string {
  return transformSync(source, { loader: 'ts', target: TARGET, tsconfigRaw: { compilerOptions: {} } }).code;
}
