/** The line that names a file in a prompt, beside the file or in its place. */
import type { Artifact } from '@reprise/agent';
import { type Marked, own, paragraphs } from '@reprise/contracts';

/** A file as far as it is known. */
type Named = Pick<Artifact, 'path' | 'media_type' | 'blob_ref'> & {
  readonly declared_type?: string | undefined;
  readonly bytes?: number | undefined;
};

/**
 * The line for a linked file: its name, type, size and digest.
 *
 * @param why why it is not shown, as the end of a sentence, where the reason is to be said
 */
export function fileLine({ path, media_type, declared_type, bytes, blob_ref }: Named, why?: string): Marked {
  const declared = declared_type === undefined ? own`` : own` (declared as ${declared_type})`;
  const size = bytes === undefined ? own`` : own`, ${bytes} bytes`;
  const reason = why === undefined ? own`` : own`; not shown, because ${why}`;
  const end = own`, ${blob_ref.toString()}`;
  return paragraphs([own`[file "${path}": ${media_type}`, declared, size, end, reason, own`]`], '');
}
