/** Detects the media type of content by its first bytes. */
import { startOfText } from '@reprise/contracts';

/** How many bytes of an output decide whether it is binary. */
export const SNIFF_BYTES = 8_000;

/** What stands at the beginning of a type of content: bytes, and further ones at a later place. */
type Signature = readonly [mediaType: string, start: readonly number[], at?: number, further?: readonly string[]];

const bytesOf = (text: string): readonly number[] => [...text].map((sign) => sign.charCodeAt(0));

const SIGNATURES: readonly Signature[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', bytesOf('GIF8'), 4, ['7a', '9a']],
  ['image/webp', bytesOf('RIFF'), 8, ['WEBP']],
  ['audio/wav', bytesOf('RIFF'), 8, ['WAVE']],
  ['application/pdf', bytesOf('%PDF-')],
  ['image/heic', [0], 4, ['ftyphei', 'ftyphev', 'ftypmif1', 'ftypmsf1']],
  ['image/avif', [0], 4, ['ftypavif', 'ftypavis']],
  ['video/mp4', [0], 4, ['ftyp']],
  ['image/tiff', [0x49, 0x49, 0x2a, 0x00]],
  ['image/tiff', [0x4d, 0x4d, 0x00, 0x2a]],
  ['image/bmp', bytesOf('BM'), 6, ['\0\0\0\0']],
  ['image/x-icon', [0x00, 0x00, 0x01, 0x00]],
  ['image/jxl', [0x00, 0x00, 0x00, 0x0c, 0x4a, 0x58, 0x4c, 0x20]],
  ['audio/mpeg', bytesOf('ID3'), 3, ['\u0002', '\u0003', '\u0004']],
  ['audio/ogg', bytesOf('OggS')],
  ['audio/flac', bytesOf('fLaC')],
  ['application/zip', [0x50, 0x4b, 0x03, 0x04]],
  ['application/gzip', [0x1f, 0x8b]],
  ['application/wasm', [0x00, 0x61, 0x73, 0x6d]],
  ['application/x-elf', [0x7f, 0x45, 0x4c, 0x46]],
];

/** The types that only their own bytes are: content of another kind contradicts them, and they contradict any other. */
const CERTAIN: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf'];

/** Other names of these types, as programs send them. */
const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/jfif': 'image/jpeg',
  'image/x-png': 'image/png',
  'image/apng': 'image/png',
  'application/x-pdf': 'application/pdf',
};

/** The names of a type that says nothing. */
const UNSPECIFIC: readonly string[] = ['', 'application/octet-stream', 'binary/octet-stream', 'application/unknown'];

const UNKNOWN = 'application/octet-stream';

/** The longest media type that is recorded, in UTF-16 units. */
const MEDIA_TYPE_UNITS_MAX = 128;

/** The media type of content, as its bytes and the one who gave it say it. */
export interface ContentType {
  readonly mediaType: string;
  /** What was declared, where the content contradicts it. */
  readonly declared?: string;
}

/**
 * Judges the media type of content: by its bytes where they are certain, and otherwise as declared. Every file that enters a
 * session passes here.
 *
 * @param start its first bytes, at most {@link SNIFF_BYTES}; all of them when there are fewer
 * @example contentType(jpeg, 'image/png') // { mediaType: 'image/jpeg', declared: 'image/png' }
 */
export function contentType(start: Uint8Array, declared = ''): ContentType {
  const said = startOfText(declared.trim(), MEDIA_TYPE_UNITS_MAX);
  const essence = essenceOf(said);
  if (start.length === 0) return { mediaType: said === '' ? UNKNOWN : (ALIASES[essence] ?? said) };
  const found = signatureOf(start);
  if (UNSPECIFIC.includes(essence)) return { mediaType: found ?? (isText(start) ? 'text/plain' : UNKNOWN) };
  const known = ALIASES[essence] ?? essence;
  if (found === known) return { mediaType: known };
  const other = contradicting(start, found, known);
  if (other !== undefined) return { mediaType: other, declared: said };
  return { mediaType: known === essence ? said : known };
}

/** A judged type in the fields of a part or of a file. */
export function typeFields({ mediaType, declared }: ContentType): {
  readonly media_type: string;
  readonly declared_type?: string;
} {
  return { media_type: mediaType, ...(declared === undefined ? {} : { declared_type: declared }) };
}

/** The type of the content, where it cannot be of the declared one. */
function contradicting(start: Uint8Array, found: string | undefined, known: string): string | undefined {
  // A text may begin as a file does: no file of these types but a PDF is a text to its end.
  if (known.startsWith('text/') && found !== 'application/pdf' && hasNothingOdd(start)) return undefined;
  if (found !== undefined && CERTAIN.includes(found)) return found;
  if (CERTAIN.includes(known)) return found ?? textTypeOf(start) ?? UNKNOWN;
  if (known.startsWith('text/')) return looksBinary(start) ? (found ?? UNKNOWN) : undefined;
  if (!/^(?:image|audio|video)\//.test(known) || /[+/]xml$/.test(known)) return undefined;
  return found?.startsWith('image/') === true && known.startsWith('image/') ? found : textTypeOf(start);
}

/** A media type without its parameters, in lower case. */
function essenceOf(mediaType: string): string {
  return (mediaType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** The type of a text that was declared as something else; undefined when it is no text. */
function textTypeOf(start: Uint8Array): string | undefined {
  if (!isText(start)) return undefined;
  const text = new TextDecoder(utf16Of(start) ?? 'utf-8').decode(start).trimStart();
  if (/^<!doctype html|^<html|^<head|^<body/i.test(text)) return 'text/html';
  if (/^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*|<!doctype svg[^>]*>\s*)*<svg[\s>]/i.test(text))
    return 'image/svg+xml';
  if (/^<\?xml/.test(text)) return 'text/xml';
  return 'text/plain';
}

/** Whether bytes are a text: the start of a character may stand at their end, and no control character among them. */
function isText(start: Uint8Array): boolean {
  if (utf16Of(start) !== undefined) return true;
  return signatureOf(start) === undefined && hasNothingOdd(start);
}

/** Whether bytes are UTF-8 without control characters. */
function hasNothingOdd(start: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true });
    for (let at = 0; at < text.length; at++) if (isOdd(text.charCodeAt(at))) return false;
    return text.length > 0;
  } catch {
    return false;
  }
}

/** The share of NUL bytes, and of other characters that no text holds, above which bytes are not a text. */
const NUL_SHARE_MAX = 2 / 3;
const ODD_SHARE_MAX = 0.1;

/**
 * Whether bytes look like a binary file. A NUL alone says little: lists that programs pass on separate their names with
 * it, and logs hold one now and then.
 */
export function looksBinary(start: Uint8Array): boolean {
  if (!start.includes(0)) return false;
  if (utf16Of(start) !== undefined) return false;
  if (signatureOf(start) !== undefined) return true;
  const text = new TextDecoder().decode(start);
  let nul = 0;
  let odd = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0) nul += 1;
    else if (code === 0xfffd || isOdd(code)) odd += 1;
  }
  return nul > text.length * NUL_SHARE_MAX || odd > text.length * ODD_SHARE_MAX;
}

/** Whether this is a control character that is in no text: neither space nor the beginning of a color. */
function isOdd(code: number): boolean {
  return code < 32 && code !== 27 && (code < 7 || code > 13);
}

/** How many bytes show an encoding that no mark names. */
const PAIRS_MIN = 4;

/** The encoding of a text in UTF-16, by its byte order mark or, of mostly Latin text, by where its NUL bytes stand. */
export function utf16Of(start: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  const pairs = Math.floor(start.length / 2);
  if (pairs < PAIRS_MIN || !start.includes(0)) return undefined;
  const nuls = [0, 0];
  let hasSpace = false; // names that a NUL ends hold no spaces and line breaks
  for (let at = 0; at < pairs * 2; at++) {
    if (start[at] === 0) nuls[at % 2] = (nuls[at % 2] ?? 0) + 1;
    hasSpace ||= start[at] === 10 || start[at] === 32;
  }
  const [even = 0, odd = 0] = nuls;
  if (!hasSpace) return undefined;
  if (odd > pairs * 0.7 && even === 0) return 'utf-16le';
  return even > pairs * 0.7 && odd === 0 ? 'utf-16be' : undefined;
}

/** The media type of binary content. */
export function mediaTypeOf(start: Uint8Array): string {
  return signatureOf(start) ?? UNKNOWN;
}

function signatureOf(start: Uint8Array): string | undefined {
  return SIGNATURES.find(([, signature, at = 0, further]) => {
    if (!signature.every((byte, i) => start[i] === byte)) return false;
    return further === undefined || further.some((text) => bytesOf(text).every((byte, i) => start[at + i] === byte));
  })?.[0];
}
