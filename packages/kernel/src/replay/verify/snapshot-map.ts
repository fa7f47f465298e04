/** Reading the map that a snapshot links: what is wrong with it is said of the snapshot's frame. */
import { isRepriseError, RepriseError } from '@reprise/contracts';

/** Reads something of the map of a snapshot. */
export async function inSnapshot<T>(seq: number, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (!isRepriseError(error, 'blob_damaged') && !isRepriseError(error, 'blob_missing')) throw error;
    const { code, what, details } = error;
    throw new RepriseError(code, what, {
      ...details,
      where: `frame ${seq}, ${details.where ?? 'its map'}`,
      cause: error,
    });
  }
}
