/** Writes the files of the page of `reprise inspect` into `packages/inspect/dist/page.js`; a step of the build. */
import { writeFile } from 'node:fs/promises';
import { pageModule } from './lib/inspect-page.js';

await writeFile(new URL('../packages/inspect/dist/page.js', import.meta.url), await pageModule());
