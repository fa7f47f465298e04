import { isRef, type Ref, RepriseError, requireArgument, requireMethods, type Value } from '@reprise/contracts';
import { decode, encode } from '../../pure/codec/index.js';
import type { ContentReader, ContentStore } from './port.js';

/** Stores a canonical value as content; its link says that the content is a value and can be walked. */
export async function putValue(content: Pick<ContentStore, 'put'>, value: unknown): Promise<Ref> {
  requireMethods(content, ['put'], 'putValue(content)', 'the content of a world, such as world.content');
  return (await content.put(encode(value))).asValue();
}

/**
 * Reads content that was stored as a canonical value.
 *
 * @throws RepriseError `blob_missing`, `blob_erased`, `blob_damaged`, `invalid_bytes`
 */
export async function getValue(content: ContentReader, ref: Ref): Promise<Value> {
  requireReading(content, ref, 'getValue');
  return decode((await content.get(ref)) ?? (await gone(content, ref)));
}

/**
 * Reads content that must exist.
 *
 * @throws RepriseError `blob_missing`, or `blob_erased` when a tombstone explains it; `blob_damaged`
 */
export async function getBytes(content: ContentReader, ref: Ref): Promise<Uint8Array> {
  requireReading(content, ref, 'getBytes');
  return (await content.get(ref)) ?? (await gone(content, ref));
}

function requireReading(content: ContentReader, ref: Ref, by: string): void {
  requireMethods(content, ['get'], `${by}(content)`, 'the content of a world, such as world.content');
  requireArgument(isRef(ref), `${by}(ref)`, 'a link to content', ref);
}

/** Says why content is not there. */
async function gone(content: ContentReader, ref: Ref): Promise<never> {
  const by = await content.erasedBy(ref);
  if (by !== undefined) throw erased(ref, by);
  throw new RepriseError('blob_missing', 'linked content is not in the store', {
    where: ref.toString(),
    hint: 'Restore the store from a copy that has it; `reprise verify` finds what is missing.',
  });
}

function erased(ref: Ref, by: number): RepriseError {
  return new RepriseError('blob_erased', 'linked content was erased', {
    where: ref.toString(),
    hint: `Frame ${by} records by whom and why. It cannot be restored; continue without it.`,
    by,
  });
}
