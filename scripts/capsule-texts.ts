/** Writes the scripts of a capsule into `packages/capsule/dist/texts.js`; a step of the build. */
import { writeFile } from 'node:fs/promises';
import { capsuleTexts } from './lib/capsule-texts.js';

await writeFile(new URL('../packages/capsule/dist/texts.js', import.meta.url), capsuleTexts());
