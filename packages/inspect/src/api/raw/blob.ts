/** `GET /api/blob?digest&from&as`: content in pieces. */
import { isRepriseError, type Ref, RepriseError } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { decode } from '@reprise/kernel/codec';
import { toJson } from '@reprise/operators/text';
import { DIGEST, FRAME, oneOf, optional } from '../../ask/parameters.js';
import { question } from '../../ask/question.js';
import type { BlobReport } from '../../contract/index.js';

/** The bytes of a piece: of the text, of the JSON of a value, or of the content itself. */
const PIECE_BYTES = 64 * 1024;

type Kind = Exclude<BlobReport['kind'], 'erased'>;

export const blob = question(
  { digest: DIGEST, from: optional(FRAME), as: optional(oneOf('text', 'value', 'bytes')) },
  async ({ store }, { digest, from = 0, as }): Promise<BlobReport> => {
    const name = digest.hex;
    const bytes = await contentOf(store, digest);
    if (bytes === undefined) return { digest: name, bytes: 0, kind: 'erased', text: '', next: null };
    const { kind, shown } = shownAs(bytes, as);
    const end = kind === 'bytes' ? Math.min(from + PIECE_BYTES, shown.length) : endOf(shown, from);
    const piece = shown.subarray(from, end);
    const text =
      kind === 'bytes' ? Buffer.from(piece).toString('hex') : new TextDecoder('utf-8', AS_IT_IS).decode(piece);
    return { digest: name, bytes: bytes.length, kind, text, next: end < shown.length ? end : null };
  },
);

const AS_IT_IS = { ignoreBOM: true } as const;

/** The bytes of a content; undefined when it was erased. @throws RepriseError `blob_missing`, which is answered with 404 */
async function contentOf({ content }: ReadonlyStore, digest: Ref): Promise<Uint8Array | undefined> {
  const bytes = await content.get(digest);
  if (bytes !== undefined) return bytes;
  if ((await content.erasedBy(digest)) !== undefined) return undefined;
  throw new RepriseError('blob_missing', 'the world has no content with this digest', {
    ...{ where: 'digest', actual: digest.toString() },
  });
}

/** Content in the form that was asked for, or in the one that its bytes have. A digest does not say which it is. */
function shownAs(bytes: Uint8Array, as: Kind | undefined): { readonly kind: Kind; readonly shown: Uint8Array } {
  const isText = isUtf8(bytes);
  const value =
    as === 'text' || as === 'bytes' || (as === undefined && isText && !isLongValue(bytes)) ? undefined : jsonOf(bytes);
  if (value !== undefined) return { kind: 'value', shown: new TextEncoder().encode(value) };
  return { kind: isText && as !== 'bytes' ? 'text' : 'bytes', shown: bytes };
}

/** The bytes of a short word may be those of a value by chance; those of a long text with its length before it are not. */
function isLongValue(bytes: Uint8Array): boolean {
  return bytes.length > SHORT_BYTES && (bytes[0] ?? 0) >= LONG_TEXT_FROM && (bytes[0] ?? 0) <= LONG_TEXT_TO;
}

const SHORT_BYTES = 25;
/** The first bytes of encoded texts whose length stands in bytes of its own. */
const [LONG_TEXT_FROM, LONG_TEXT_TO] = [0x78, 0x7b];

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function jsonOf(bytes: Uint8Array): string | undefined {
  try {
    return toJson(decode(bytes), { indent: 2 });
  } catch (error) {
    if (isRepriseError(error)) return undefined; // it is no value
    throw error;
  }
}

/** The end of a piece of text: not within a character. */
function endOf(bytes: Uint8Array, from: number): number {
  let end = Math.min(from + PIECE_BYTES, bytes.length);
  while (end < bytes.length && end > from && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
