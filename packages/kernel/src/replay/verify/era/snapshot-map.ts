/** Reads the map that a snapshot links: its errors name the snapshot's frame. */
import { isRepriseError, RepriseError } from '@reprise/contracts';

/** Reads a part of the map of a snapshot. */
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
