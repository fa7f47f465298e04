/** Reads a whole file inside a folder, for what makes it content of a world. */
import { isRepriseError } from '@reprise/contracts';
import { readBounded } from './anchor.js';
import { Confinement } from './confine.js';

/** A file that was read, or why it was not, in words for a model. */
type FileInFolder = { readonly bytes: Uint8Array } | { readonly refused: string };

/**
 * Makes a reader of the regular files inside a folder. `..`, absolute paths, symbolic links that lead out, folders, and
 * files that usually hold secrets are refused.
 *
 * @param root the folder; it is first accessed when a file is read
 * @param bytesMax larger files are refused
 */
export function filesInFolder(root: string, bytesMax: number): (path: string) => Promise<FileInFolder> {
  const confinement = new Confinement(root);
  return async (path) => {
    try {
      const { file, stats } = await confinement.open(path);
      try {
        const bytes = readBounded(file.fd, bytesMax);
        if (bytes !== 'large') return { bytes };
        return { refused: `it has ${stats.size} bytes; at most ${bytesMax} are taken` };
      } finally {
        await file.close();
      }
    } catch (error) {
      if (isRepriseError(error, 'path_refused')) return { refused: error.what };
      throw error;
    }
  };
}
