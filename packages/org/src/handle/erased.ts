/** Content that may have been erased. */
import { isRepriseError } from '@reprise/contracts';

/** What is read; what stands in its place when its content was erased. Any other error is thrown. */
export async function unlessErased<T, I>(read: Promise<T>, instead: I): Promise<T | I> {
  try {
    return await read;
  } catch (error) {
    if (isRepriseError(error, 'blob_erased')) return instead;
    throw error;
  }
}
