/** The token of the process that runs a tree, for commands without a terminal. */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { RepriseError } from '@reprise/contracts';

/**
 * Reads a token from a file, or from standard input. It is no argument and no variable: other processes can read those.
 *
 * @param file a path; `-` is standard input
 * @throws RepriseError `invalid_argument` when it cannot be read, or is empty
 */
export async function tokenIn(file: string): Promise<string> {
  const token = (await contentOf(file)).replace(/^token /, '').trim();
  if (token !== '') return token;
  throw new RepriseError('invalid_argument', 'the file with the token is empty', {
    where: '--token-file',
    actual: file,
  });
}

async function contentOf(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : readFileSync(file, 'utf8');
  } catch (cause) {
    const what = 'the file with the token cannot be read';
    throw new RepriseError('invalid_argument', what, { where: '--token-file', actual: file, cause });
  }
}
