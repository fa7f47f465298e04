/** The page's script, bundled from its sources when the server starts. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** React as Preact: the same components in a twentieth of the bytes. */
const REACT = {
  react: 'preact/compat',
  'react-dom': 'preact/compat',
  'react-dom/client': 'preact/compat/client',
  'react/jsx-runtime': 'preact/jsx-runtime',
};

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
    alias: REACT,
    plugins: [partsOfZod],
    conditions: isSource ? ['@reprise/source'] : [],
  });
  return outputFiles[0]?.text ?? '';
}

/**
 * The AI SDK takes zod as one object, with its messages in 40 languages, and knows the schemas of zod 3 as well. As a
 * namespace only the parts that it calls are bundled, and a page has no schema of zod 3: 350 kB less.
 */
const partsOfZod: Plugin = {
  name: 'parts-of-zod',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]node_modules[\\/]ai[\\/]dist[\\/]index\.mjs$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const contents = source.replace(/import \{ z(?: as (\w+))? \} from "zod\/v4";/g, (_, name = 'z') => {
        return `import * as ${name} from "zod/v4";`;
      });
      return { contents, loader: 'js' };
    });
    onResolve({ filter: /^zod\/v3$/ }, () => ({ path: 'zod/v3', namespace: 'left-out' }));
    onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: 'export const ZodFirstPartyTypeKind = {};' }));
  },
};
