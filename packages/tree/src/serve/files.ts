/** Files as results of nodes: read from inside one folder. */
import { isFilled, requireArgument } from '@reprise/contracts';
import { filesInFolder } from '@reprise/tools/files';
import type { FileCapture } from '../adapters/check.js';
import { RESULT_FILE_BYTES_MAX } from '../pure/contracts/bounds.js';

/**
 * Takes files inside a folder as results: their content becomes content of the world. `..`, absolute paths, symbolic
 * links that lead out, folders, files that usually hold secrets, and files of more than 16 MiB are refused.
 *
 * @param folder the folder; it is first accessed when a node gives a file
 * @example const forest = trees({ agents: [worker], files: files('./notes') })
 */
export function files(folder: string): FileCapture {
  requireArgument(isFilled(folder), 'files(folder)', 'the path of a folder', folder);
  const read = filesInFolder(folder, RESULT_FILE_BYTES_MAX);
  return { capture: (path) => read(path) };
}
