import { Ref, RepriseError, type Value } from '@reprise/contracts';
import { decode, type ReadonlyStore } from '@reprise/kernel';
import { findMention, type Mention } from '../links.js';
import { escapeText } from '../text/escape.js';
import { toJson } from '../text/json.js';
import type { View } from './show.js';
import { frameView } from './show-frame.js';

/** The number of bytes shown of content that is neither a value nor text. */
const HEX_BYTES_MAX = 64;

/**
 * Shows the blob with a digest, or the frame with this head.
 *
 * @throws RepriseError `blob_erased` when a tombstone names it, `blob_missing` when a frame links it and the store has lost it, `blob_damaged`,
 *   `invalid_argument` when no blob and no frame has this digest
 */
export async function digestView(store: ReadonlyStore, hex: string): Promise<View> {
  const bytes = await store.content.get(Ref.fromHex(hex));
  const mention = await findMention(store, hex);
  if (bytes !== undefined) return blobView(hex, bytes, mention);
  if (mention?.as === 'head') return frameView(store, mention.seq);
  const by = await store.content.erasedBy(Ref.fromHex(hex));
  if (by !== undefined) {
    throw new RepriseError('blob_erased', 'the content was erased', {
      where: `frame ${by}, sha256:${hex}`,
      hint: `Frame ${by} names who erased it and why. It cannot be restored.`,
      by,
    });
  }
  if (mention?.as === 'link') {
    throw new RepriseError('blob_missing', 'linked content is missing from the store', {
      where: `frame ${mention.seq}, sha256:${hex}`,
      hint: 'Restore the store from a copy that has it.',
    });
  }
  throw new RepriseError('invalid_argument', 'the digest is not in this world', {
    actual: `sha256:${hex}`,
    hint: 'Only blobs and the heads of frames can be shown by digest.',
  });
}

type Content =
  | { readonly as: 'value'; readonly value: Value }
  | { readonly as: 'text'; readonly text: string }
  | { readonly as: 'bytes'; readonly bytes: string };

function blobView(hex: string, bytes: Uint8Array, mention: Mention | undefined): View {
  const link = mention?.as === 'link' ? mention : undefined;
  const content = contentOf(bytes, link?.kind === 'value');
  const ref = `sha256:${hex}`;
  const linked = link === undefined ? 'no frame links it' : `linked first by frame ${link.seq}`;
  return {
    data: { ref, size: bytes.length, linked_by: link?.seq ?? null, ...content },
    text: `${ref}\n${content.as}, ${bytes.length} bytes, ${linked}\n${textOf(content, bytes.length)}\n`.replace(
      /\n\n$/,
      '\n',
    ),
  };
}

/** Bytes are decoded as a value only when a link says so: the bytes of a text may look like a value by chance. */
function contentOf(bytes: Uint8Array, isValue: boolean): Content {
  if (isValue) return { as: 'value', value: decode(bytes) };
  try {
    return { as: 'text', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { as: 'bytes', bytes: Buffer.from(bytes).toString('hex') };
  }
}

function textOf(content: Content, size: number): string {
  switch (content.as) {
    case 'value':
      return toJson(content.value, { indent: 2 });
    case 'text':
      return escapeText(content.text);
    case 'bytes':
      return size <= HEX_BYTES_MAX ? content.bytes : `${content.bytes.slice(0, 2 * HEX_BYTES_MAX)}…`;
    default:
      return content satisfies never;
  }
}
