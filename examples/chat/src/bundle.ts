/** The page's script, bundled from its sources when the server starts. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Bundles the page. */
export async function bundlePage(): Promise<string> {
  const isSource = import.meta.resolve('reprise/ui').endsWith('.ts');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../page/page.jsx', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    minify: true,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    conditions: isSource ? ['@reprise/source'] : [],
  });
  return outputFiles[0]?.text ?? '';
}
