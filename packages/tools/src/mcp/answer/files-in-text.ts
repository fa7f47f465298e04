/**
 * Finds binary content inside text as base64: no reader can use it there, and a model pays for every character.
 *
 * Invariants
 * T1  Each character is looked at a bounded number of times, in a loop: a regular expression would try every start
 *     inside a run again, and one run of some million characters exceeds its stack.
 */
import { looksBinary, mediaTypeOf } from '@reprise/agent';

/** The shortest run of base64 that is examined, in characters. Digests, tokens and identifiers are shorter. */
const BASE64_UNITS_MIN = 512;

/** How many characters of a run decide what it is. */
const SNIFF_UNITS = 8_000;

/** The longest beginning of a data URL that is recognized, in characters. */
const DATA_URL_UNITS_MAX = 256;

/** The characters of base64 in both alphabets, and line breaks, by code. */
const IS_BASE64 = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9+/_\r\n-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** The beginning of a data URL, at the end of a text. */
const DATA_URL = /data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.-]+)*;base64,$/;

/** A file inside a text. */
interface TextFile {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

/**
 * Takes the files out of a text.
 *
 * @param put stores a file and returns the text to put in its place
 */
export async function withoutFiles(text: string, put: (file: TextFile) => Promise<string>): Promise<string> {
  let out = '';
  let end = 0;
  for (const { from, to, data, named } of stretches(text)) {
    const file = fileIn(text.slice(data, to), named);
    if (file === undefined) continue;
    out += text.slice(end, from) + (await put(file));
    end = to;
  }
  return end === 0 ? text : out + text.slice(end);
}

/** A long run of base64: where it begins, with its data URL if it has one, where its data begins, and where it ends. */
interface Stretch {
  readonly from: number;
  readonly data: number;
  readonly to: number;
  readonly named: string | undefined;
}

/** The long runs of base64 in a text. T1 */
function* stretches(text: string): Generator<Stretch> {
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    const data = at;
    while (IS_BASE64[text.charCodeAt(at)] === 1) at += 1;
    if (at - data < BASE64_UNITS_MIN) continue;
    for (let padding = 0; padding < 2 && text[at] === '='; padding++) at += 1;
    const url = DATA_URL.exec(text.slice(Math.max(end, data - DATA_URL_UNITS_MAX), data));
    yield { from: data - (url?.[0].length ?? 0), data, to: at, named: url?.[1] };
    end = at;
    at -= 1; // the next character may begin another run
  }
}

/** The file in a run of base64; undefined when it is text, or bytes of an unrecognized type. */
function fileIn(base64: string, named: string | undefined): TextFile | undefined {
  if (named === undefined && !isWrapped(base64)) return undefined;
  const start = Buffer.from(base64.slice(0, SNIFF_UNITS), 'base64');
  const mediaType = mediaTypeOf(start);
  const isKnown = mediaType !== 'application/octet-stream';
  if (named === undefined && !isKnown && !looksEncoded(base64, start)) return undefined;
  return { bytes: new Uint8Array(Buffer.from(base64, 'base64')), mediaType: named ?? mediaType };
}

/**
 * Whether it is one line, or lines of equal length as in wrapped base64; a list of names has lines of unequal length.
 */
function isWrapped(base64: string): boolean {
  const lines = base64.trim();
  let length: number | undefined;
  for (let from = 0; ; ) {
    const end = lines.indexOf('\n', from);
    const found = (end < 0 ? lines.length : end) - from - (end > from && lines[end - 1] === '\r' ? 1 : 0);
    length ??= found;
    if (end < 0) return found <= length;
    if (found !== length) return false;
    from = end + 1;
  }
}

/**
 * Whether the characters and bytes look like encoded data: text has no NUL byte, a hexadecimal number no mix of cases.
 */
function looksEncoded(base64: string, start: Uint8Array): boolean {
  const isMixed = /[a-z]/.test(base64) && /[A-Z]/.test(base64) && /[0-9]/.test(base64);
  return isMixed && looksBinary(start);
}
