import { pageFiles } from '../../packages/inspect/src/page/from-source.js';

/** The module `#page` of `@reprise/inspect` as it is published: each file of the page as one text. */
export async function pageModule(): Promise<string> {
  return `const files = ${JSON.stringify(await pageFiles())};\nexport const pageFiles = async () => files;\n`;
}
