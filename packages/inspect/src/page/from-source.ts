/** Makes the files of the page from its sources. The build writes the result into `dist/page.js`. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { PageFiles } from '../contract/page-files.js';

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Reprise</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body><div id="page"></div></body>
</html>
`;

/** Bundles the page: no inline script, no inline style, nothing from elsewhere. */
export async function pageFiles(): Promise<PageFiles> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../page/main.tsx', import.meta.url))],
    outdir: 'page',
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'browser',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    banner: { js: '/*! Preact, MIT License, (c) 2015-present Jason Miller */' },
    logLevel: 'silent',
  });
  const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  return { html: HTML, script: textOf('.js'), style: textOf('.css') };
}
