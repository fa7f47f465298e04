/** Programs that tests start as processes or load as modules, made into one file each. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** A text of one source file, and what stands in its place: a mistake, to see that a test finds it. */
export interface Planted {
  /** The file, by its absolute path. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A program for Node as one file, from the sources. CommonJS packages in it find a `require`. */
export const ONE_FILE = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  conditions: ['@reprise/source'],
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
} as const satisfies BuildOptions;

/** How a bundle is made. */
export interface BundleOptions {
  readonly planted?: Planted;
}

/**
 * A program and all that it imports as one file of plain JavaScript: starting it costs a fraction of starting TypeScript.
 *
 * @throws Error when the text to be replaced does not stand in its file exactly once: the mistake has to be planted anew
 */
export async function bundle(entry: string, outfile: string, { planted }: BundleOptions = {}): Promise<void> {
  await build({
    ...ONE_FILE,
    entryPoints: [entry],
    outfile,
    logLevel: planted === undefined ? 'error' : 'silent',
    plugins: [nativeDriver, ...(planted === undefined ? [] : [planting(planted)])],
  });
}

/** The driver of SQLite loads a binary from its own folder, so it stays there. */
export const nativeDriver: Plugin = {
  name: 'native',
  setup: ({ onResolve }) => {
    const own = createRequire(import.meta.url);
    const store = createRequire(own.resolve('@reprise/store-sqlite/package.json'));
    onResolve({ filter: /^libsql$/ }, () => ({
      path: pathToFileURL(store.resolve('libsql')).href,
      external: true,
    }));
  },
};

function planting({ file, from, to }: Planted): Plugin {
  return {
    name: 'planted',
    setup: ({ onLoad }) =>
      // The filter lets this one file through: each other one would cost a call from the compiler's process and back.
      onLoad({ filter: new RegExp(`^${file.replace(/[^\w]/g, '\\$&')}$`) }, async ({ path: loaded }) => {
        const parts = (await readFile(loaded, 'utf8')).split(from);
        if (parts.length !== 2) throw new Error(`"${from}" stands ${parts.length - 1} times in ${path.basename(file)}`);
        return { contents: parts.join(to), loader: 'ts' };
      }),
  };
}
