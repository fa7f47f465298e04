/** This package: what its `package.json` says, and the pages of the error codes that ship with it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parseJson } from '@reprise/contracts/json';

/** What the command reads of its `package.json`. */
interface Manifest {
  readonly version: string;
  readonly repository: { readonly url: string };
}

/** Found by an import of the package itself: built files lie in other folders than their sources, or all in one file. */
function manifestUrl(): URL {
  return pathToFileURL(createRequire(import.meta.url).resolve('#package'));
}

/** What stands in the `package.json` of this package. */
export function manifest(): Manifest {
  return parseJson(readFileSync(manifestUrl(), 'utf8')) as unknown as Manifest;
}

/** The folder of the pages. The build copies them beside its output; sources read those of the documentation. */
export function pagesFolder(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? '../../docs/errors/' : 'dist/errors/', manifestUrl());
}
