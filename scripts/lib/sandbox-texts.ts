import { childText, engineText } from '../../packages/sandbox/src/texts-from-sources.js';

/** The module `#texts` of `@reprise/sandbox` as it is published: each script as one text. */
export function sandboxTexts(): string {
  return Object.entries({ engineText, childText })
    .map(([name, text]) => `export const ${name} = ${JSON.stringify(text)};\n`)
    .join('');
}
