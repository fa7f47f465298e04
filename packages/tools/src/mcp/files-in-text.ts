/** Finds binary content inside text as base64: no reader can use it there, and a model pays for every character. */
import { looksBinary, mediaTypeOf } from '@reprise/agent';

/** The shortest run of base64 that is examined, in characters. Digests, tokens and identifiers are shorter. */
const BASE64_UNITS_MIN = 512;

/** How many characters of a run decide what it is. */
const SNIFF_UNITS = 8_000;

const STRETCH = new RegExp(
  `(?:data:([\\w.+-]+/[\\w.+-]+)(?:;[\\w=.-]+)*;base64,)?[A-Za-z0-9+/_\\r\\n-]{${BASE64_UNITS_MIN},}={0,2}`,
  'g',
);

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
  for (const found of text.matchAll(STRETCH)) {
    const file = fileIn(found[0], found[1]);
    if (file === undefined) continue;
    out += text.slice(end, found.index) + (await put(file));
    end = found.index + found[0].length;
  }
  return end === 0 ? text : out + text.slice(end);
}

/** The file in a run of base64; undefined when it is text, or bytes of an unrecognized type. */
function fileIn(stretch: string, named: string | undefined): TextFile | undefined {
  const base64 = named === undefined ? stretch : stretch.slice(stretch.indexOf(',') + 1);
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
  const lines = base64.trim().split(/\r?\n/);
  const length = lines[0]?.length ?? 0;
  return lines.every((line, at) => line.length === length || (at === lines.length - 1 && line.length < length));
}

/**
 * Whether the characters and bytes look like encoded data: text has no NUL byte, a hexadecimal number no mix of cases.
 */
function looksEncoded(base64: string, start: Uint8Array): boolean {
  const isMixed = /[a-z]/.test(base64) && /[A-Z]/.test(base64) && /[0-9]/.test(base64);
  return isMixed && looksBinary(start);
}
