/** The programs of the matrix, as one file for runtimes and one for pages. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { ownAddress } from '../lib/own-address.js';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const SHARED: BuildOptions = { bundle: true, conditions: ['@reprise/source'], logLevel: 'error', target: 'es2022' };

/** A program for Node, Bun and Deno, without a loader of any of them. */
export async function bundleHeads(outfile: string): Promise<void> {
  const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";
  await build({
    ...SHARED,
    entryPoints: [path.join(HERE, 'heads.ts')],
    outfile,
    platform: 'node',
    format: 'esm',
    banner: { js: banner },
    plugins: [ownAddress()],
  });
}

/** A script for a page. What it needs of a host is the hash that heads are shown by: the kernel needs none. */
export async function bundlePage(outfile: string): Promise<void> {
  await build({
    ...SHARED,
    entryPoints: [path.join(HERE, 'page.ts')],
    outfile,
    platform: 'browser',
    format: 'iife',
    alias: { 'node:crypto': path.join(HERE, 'node-crypto.ts') },
  });
}
