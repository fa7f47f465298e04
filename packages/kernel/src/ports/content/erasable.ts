/**
 * Content that may have to be erased: stored behind a salt.
 *
 * After an erasure the digest of the bytes stays in the journal for ever. A short text could be guessed from it by
 * hashing every likely text; 16 random bytes before the text prevent that, and are erased with it. They also make
 * equal texts different blobs, so erasing one never erases another's.
 */
import { type Ref, RepriseError, requireArgument, requireMethods } from '@reprise/contracts';
import { type RandomBytes, systemRandom } from '../time/clock.js';
import type { ContentReader, ContentStore } from './port.js';
import { getBytes } from './values.js';

/** 128 bits cannot be searched. */
const SALT_BYTES = 16;

/**
 * Stores bytes that may have to be erased. Each call makes another blob: a caller that repeats a request under its id
 * must repeat the link as well.
 *
 * @param random the source of the salt; the platform's when absent
 * @returns a raw link, to be read with {@link getErasable}
 */
export async function putErasable(
  content: ContentStore,
  bytes: Uint8Array,
  random: RandomBytes = systemRandom,
): Promise<Ref> {
  requireMethods(content, ['put'], 'putErasable(content)', 'the content of a world, such as world.content');
  requireArgument(bytes instanceof Uint8Array, 'putErasable(bytes)', 'bytes as a Uint8Array', bytes);
  const salted = new Uint8Array(SALT_BYTES + bytes.length);
  salted.set(random(SALT_BYTES).subarray(0, SALT_BYTES));
  salted.set(bytes, SALT_BYTES);
  return content.put(salted);
}

/**
 * Reads content stored by {@link putErasable}.
 *
 * @throws RepriseError `blob_erased`, `blob_missing`; `blob_damaged` also when the content is too short for a salt
 */
export async function getErasable(content: ContentReader, ref: Ref): Promise<Uint8Array> {
  const salted = await getBytes(content, ref);
  if (salted.length >= SALT_BYTES) return salted.slice(SALT_BYTES);
  throw new RepriseError('blob_damaged', 'content that is read as salted is too short for a salt', {
    where: ref.toString(),
    expected: `${SALT_BYTES} bytes or more`,
    actual: `${salted.length} bytes`,
  });
}
