/** Writes the scripts of a sandbox into `packages/sandbox/dist/texts.js`; a step of the build. */
import { writeFile } from 'node:fs/promises';
import { sandboxTexts } from './lib/sandbox-texts.js';

await writeFile(new URL('../packages/sandbox/dist/texts.js', import.meta.url), sandboxTexts());
