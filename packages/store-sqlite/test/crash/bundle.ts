/** Programs that tests start as processes, made into one file each. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** A program and all that it imports as one file of plain JavaScript: starting it costs a fraction of starting TypeScript. */
export async function bundle(entry: string, outfile: string): Promise<void> {
  const require = createRequire(new URL('../../package.json', import.meta.url));
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@reprise/source'],
    logLevel: 'error',
    plugins: [
      {
        name: 'native',
        // It loads a binary from its own folder, so it stays there.
        setup: ({ onResolve }) =>
          onResolve({ filter: /^libsql$/ }, () => ({
            path: pathToFileURL(require.resolve('libsql')).href,
            external: true,
          })),
      },
    ],
  });
}
