import path from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { piecesOf } from '../bench/cold/pieces.mjs';
import { HELLO_BUNDLE_MAX, NOT_IN_COLD_IMPORT } from './rules.js';
import type { Problem } from './tree.js';

const OPTIONS = {
  bundle: true,
  write: false,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  conditions: ['@reprise/source'],
  external: ['node:*', 'libsql', 'esbuild', '@modelcontextprotocol/client', '@modelcontextprotocol/server'],
  logLevel: 'silent',
} as const satisfies BuildOptions;

/**
 * The files and packages that importing some sources loads: all that they import, and not what is only imported by
 * `import()` when it is needed.
 */
export async function coldImport(root: string, entries: readonly string[]): Promise<readonly string[]> {
  const contents = entries.map((entry) => `import './${entry}';`).join('\n');
  const { metafile } = await build({
    ...OPTIONS,
    absWorkingDir: root,
    stdin: { contents, resolveDir: root, sourcefile: 'app.mjs' },
    metafile: true,
    treeShaking: false,
  });
  return reached(metafile, 'app.mjs');
}

function reached({ inputs }: Metafile, from: string): readonly string[] {
  const found = new Set([from]);
  for (const file of found) {
    for (const { path, kind } of inputs[file]?.imports ?? []) if (kind === 'import-statement') found.add(path);
  }
  return [...found];
}

/** What an app does not use is not loaded. */
export function checkColdImport(
  entry: string,
  loaded: readonly string[],
  rules: typeof NOT_IN_COLD_IMPORT = NOT_IN_COLD_IMPORT,
): readonly Problem[] {
  return loaded.flatMap((file) =>
    rules
      .filter(({ pattern }) => pattern.test(file))
      .map(({ use }) => ({
        file: entry,
        line: 1,
        what: `importing it loads ${file}`,
        use,
      })),
  );
}

/** The bytes of a bundled agent, compressed by gzip; see {@link piecesOf}. */
export interface BundleSizes {
  /** Its entry, and what that imports statically. */
  readonly entry: number;
  /** All that a run of it loads. */
  readonly run: number;
  /** One file with everything. */
  readonly whole: number;
}

/** Measures a bundled agent, from the sources. */
export function bundleSizes(root: string, entry: string): Promise<BundleSizes> {
  return piecesOf(path.join(root, entry), { conditions: ['@reprise/source'] });
}

/** A bundled agent stays below its ceilings. */
export function checkHelloBundle(
  entry: string,
  sizes: BundleSizes,
  ceilings: BundleSizes | undefined = HELLO_BUNDLE_MAX[entry],
): readonly Problem[] {
  return (['entry', 'run', 'whole'] as const)
    .filter((what) => ceilings === undefined || sizes[what] > ceilings[what])
    .map((what) => {
      const beyond = `${sizes[what]} bytes (${what}), more than ${ceilings?.[what] ?? 'nothing'}`;
      return { file: entry, line: 1, what: `the bundle has ${beyond}` };
    });
}
