/** For authors of stores: which blobs are in which share. */
import { type ArgumentCheck, checkOf, fieldsOf, isWhole } from '@reprise/contracts';
import type { BlobShare } from './port.js';

/** The share that has every blob. */
export const ALL_BLOBS: BlobShare = Object.freeze({ part: 0, of: 1 });

const require: ArgumentCheck = checkOf('invalid_argument', 'invalid argument of the content store');

/**
 * Whether a blob is in a share, by its digest: for a store without a better order of its own.
 *
 * @param hex the digest
 * @example
 * ['00ff…', '00fe…'].filter((hex) => isInShare(hex, { part: 1, of: 2 })) // every blob is in share 0 or in share 1
 */
export function isInShare(hex: string, { part, of }: BlobShare = ALL_BLOBS): boolean {
  return of === 1 || Number.parseInt(hex.slice(0, 8), 16) % of === part;
}

/** Refuses anything but a share. */
export function assertShare(thing: unknown): void {
  const { part, of } = fieldsOf(thing);
  const sound = isWhole(of, 1) && isWhole(part) && (part as number) < (of as number);
  require(sound, 'share', 'a share: {part, of}, part less than of', thing);
}
