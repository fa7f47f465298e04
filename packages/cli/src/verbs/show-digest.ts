import { Ref, RepriseError, type Value } from '@reprise/contracts';
import type { ReadonlyStore } from '@reprise/kernel';
import { decode } from '@reprise/kernel/codec';
import { escapeText } from '../text/escape.js';
import { toJson } from '../text/json.js';
import { recordRow, timeOf } from '../text/record-line.js';
import { DIGEST_DIGITS, findMentions, type Mention, type RecordAt, recordsWith } from '../world/links.js';
import type { View } from './show.js';
import { frameView } from './show-frame.js';

/** The number of bytes shown of content that is neither a value nor text. */
const HEX_BYTES_MAX = 64;

/** The most digests that the message about an ambiguous beginning lists. */
const LISTED_MAX = 10;

/**
 * Shows the blob with a digest, the frame with this head, or the records that have this id.
 *
 * @param digits all digits, or the first ones
 * @throws RepriseError `blob_erased` when a tombstone names it, `blob_missing` when a frame links it and the store has
 *   lost it, `blob_damaged`, `invalid_argument` when nothing, or more than one thing, has these digits
 */
export async function digestView(store: ReadonlyStore, digits: string): Promise<View> {
  const mentions = await findMentions(store, digits);
  const exact = mentions.find(({ hex }) => hex === digits); // an id may be the beginning of another
  const [mention, another] = exact === undefined ? mentions : [exact];
  if (another !== undefined) throw several(digits, mentions);
  if (mention?.as === 'head') return frameView(store, mention.seq);
  if (mention?.as === 'id') return idView(store, mention.hex);
  const hex = mention?.hex ?? digits;
  if (hex.length !== DIGEST_DIGITS) throw unknown(digits);
  const ref = Ref.fromHex(hex);
  const bytes = await store.content.get(ref);
  if (bytes !== undefined) return blobView(hex, bytes, mention);
  throw (await erased(store, ref)) ?? (mention === undefined ? unknown(digits) : missing(mention));
}

async function erased({ content }: ReadonlyStore, ref: Ref): Promise<RepriseError | undefined> {
  const by = await content.erasedBy(ref);
  if (by === undefined) return undefined;
  return new RepriseError('blob_erased', 'the content was erased', {
    where: `frame ${by}, sha256:${ref.hex}`,
    hint: `Frame ${by} names who erased it and why. It cannot be restored.`,
    by,
  });
}

function missing({ seq, hex }: Mention): RepriseError {
  return new RepriseError('blob_missing', 'linked content is missing from the store', {
    where: `frame ${seq}, sha256:${hex}`,
    hint: 'Restore the store from a copy that has it.',
  });
}

function unknown(digits: string): RepriseError {
  return new RepriseError('invalid_argument', 'the digest is not in this world', {
    actual: digits.length === DIGEST_DIGITS ? `sha256:${digits}` : `${digits}…`,
    hint: 'Content, heads of frames and ids of records can be shown by their digits. reprise tail and reprise log print them.',
  });
}

function several(digits: string, mentions: readonly Mention[]): RepriseError {
  const more = mentions.length - LISTED_MAX;
  const listed = mentions.slice(0, LISTED_MAX).map(({ as, hex, seq }) => `${KINDS[as]} ${hex} (frame ${seq})`);
  return new RepriseError('invalid_argument', 'several things of this world begin with these digits', {
    expected: `one of: ${listed.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    actual: digits,
    hint: 'Give more digits.',
  });
}

const KINDS: Readonly<Record<Mention['as'], string>> = { head: 'the head', link: 'the content', id: 'the id' };

/** The records that have an id, one line for each. */
async function idView(store: ReadonlyStore, id: string): Promise<View> {
  const found: RecordAt[] = [];
  for await (const record of recordsWith(store, id)) found.push(record);
  const title = `the id ${id} is in ${found.length} ${found.length === 1 ? 'record' : 'records'}`;
  const rows = found.map(({ record, ...place }) => recordRow(place, record));
  const records = found.map((one) => ({ ...one, time: timeOf(one.at), kind: one.record.kind }));
  return { data: { id, records }, text: `${[title, ...rows].join('\n')}\n` };
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
