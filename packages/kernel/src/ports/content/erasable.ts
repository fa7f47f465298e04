/**
 * Content that may have to be erased: stored behind a salt.
 *
 * After an erasure the digest of the bytes stands in the journal for ever. That of a short text can be guessed by
 * hashing every likely text; 16 random bytes before it make that hopeless, and are erased with it. They also make
 * equal texts different blobs, so erasing one never takes another's.
 */
import { type Ref, RepriseError } from '@reprise/contracts';
import { type RandomBytes, systemRandom } from '../time/clock.js';
import type { ContentReader, ContentStore } from './port.js';
import { getBytes } from './values.js';

/** 128 bits cannot be searched. */
const SALT_BYTES = 16;

/**
 * Keeps bytes that may have to be erased. Each call makes another blob: whoever repeats a request under its id
 * repeats the link as well.
 *
 * @param random where the salt comes from; the platform's when absent
 * @returns a raw link, to be read with {@link getErasable}
 */
export function putErasable(
  content: ContentStore,
  bytes: Uint8Array,
  random: RandomBytes = systemRandom,
): Promise<Ref> {
  const salted = new Uint8Array(SALT_BYTES + bytes.length);
  salted.set(random(SALT_BYTES).subarray(0, SALT_BYTES));
  salted.set(bytes, SALT_BYTES);
  return content.put(salted);
}

/**
 * Reads what {@link putErasable} kept.
 *
 * @throws RepriseError `blob_erased`, `blob_missing`; `blob_damaged` also when there is no salt before the bytes
 */
export async function getErasable(content: ContentReader, ref: Ref): Promise<Uint8Array> {
  const salted = await getBytes(content, ref);
  if (salted.length >= SALT_BYTES) return salted.slice(SALT_BYTES);
  throw new RepriseError('blob_damaged', 'content that is read as salted has no room for a salt', {
    where: ref.toString(),
    expected: `${SALT_BYTES} bytes or more`,
    actual: `${salted.length} bytes`,
  });
}
