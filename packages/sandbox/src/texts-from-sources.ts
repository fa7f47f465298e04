/** Makes the two scripts of a sandbox from the sources. The build writes the result into `dist/texts.js`. */
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';

/** The translations of zod's messages: half of the engine's bytes, and no message is read in a sandbox. */
const withoutTranslations: Plugin = {
  name: 'without-translations',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]locales[\\/][a-z-]+\.js$/i }, ({ path }) =>
      /[\\/](?:index|en)\.js$/.test(path) ? undefined : { contents: 'export default () => ({});' },
    );
  },
};

/** The script that is evaluated in the realm of a sandbox; its value is the sandbox's entry points. */
export const engineText: string = await bundleEngine();

/** The program of the process around it. */
export const childText: string = await bundled('./child/main.ts', { format: 'cjs', platform: 'node' });

/** Makes the engine's script; `more` may load sources in another form than the written one. */
export async function bundleEngine(more: readonly Plugin[] = []): Promise<string> {
  const text = await bundled('./engine.ts', {
    format: 'iife',
    globalName: 'sandbox',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    plugins: [withoutTranslations, ...more],
  });
  return `(() => {${text}\nreturn sandbox.room; })()`;
}

async function bundled(entry: string, options: BuildOptions): Promise<string> {
  const { outputFiles = [] } = await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    bundle: true,
    write: false,
    minify: true,
    target: 'es2022',
    legalComments: 'none',
    conditions: ['@reprise/source'],
    logLevel: 'silent',
    ...options,
  });
  return outputFiles[0]?.text ?? '';
}
