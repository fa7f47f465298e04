/** For bundles of this repository's sources: each module keeps its own address, from which it finds what lies beside it. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

/** The plugin. `sourceOf` may give other text for a file than what is written there. */
export function ownAddress(sourceOf: (file: string) => string | undefined = () => undefined): Plugin {
  return {
    name: 'own-address',
    setup(on) {
      on.onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
        if (file.includes('node_modules')) return undefined;
        const contents = (sourceOf(file) ?? (await readFile(file, 'utf8')))
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(file).href))
          .replaceAll('import.meta.dirname', JSON.stringify(path.dirname(file)))
          .replaceAll('import.meta.filename', JSON.stringify(file));
        return { contents, loader: 'ts' };
      });
    },
  };
}
