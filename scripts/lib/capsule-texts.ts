import { childText, engineText } from '../../packages/capsule/src/texts-from-sources.js';

/** The module `#texts` of `@reprise/capsule` as it is published: each script as one text. */
export function capsuleTexts(): string {
  return Object.entries({ engineText, childText })
    .map(([name, text]) => `export const ${name} = ${JSON.stringify(text)};\n`)
    .join('');
}
